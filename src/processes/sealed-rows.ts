import { type Config, dataPaths } from '../config/settings.ts';
import type { Sql } from '../db/database.ts';
import { UnknownKeyError } from '../db/unusable-database-error.ts';
import { answerPlace } from '../http/idempotency/idempotency-lease.ts';
import { listLastAnswers } from '../http/idempotency/idempotency-store.ts';
import { listLastRequests } from '../jobs/fetch/fetch-store.ts';
import type { Log } from '../platform/log.ts';
import { headersPlace } from '../webhooks/secrets/own-headers.ts';
import { listLastSealed } from '../webhooks/secrets/sealed-store.ts';
import { openSecretBox } from '../webhooks/secrets/secrets.ts';

/** What is sealed, and what for. */
type Sealed = [place: string, sealed: Buffer | null];

// A start is not to read large tables. The last rows:
// a rotation of the key that was left unfinished began with the first.
const ROWS_PER_TABLE = 100;

/**
 * Stops a start without the key that encrypted the rows of the database: deliveries of their webhooks would wait for
 * ever, and new rows would be encrypted with another key.
 * @throws UnknownKeyError  unless UNREADABLE_ROWS is keep
 */
export async function requireKeys(
  sql: Sql,
  { config, secretsKeys, log }: { config: Config; secretsKeys: Buffer[]; log: Log },
): Promise<void> {
  const box = openSecretBox(...secretsKeys);
  const isUnreadable = ([place, sealed]: Sealed): boolean => {
    try {
      if (sealed !== null) box.open(place, sealed);
      return false;
    } catch {
      return true;
    }
  };
  const unreadable = (await sealedTables(sql)).filter(([, rows]) => rows.some(isUnreadable)).map(([table]) => table);
  if (unreadable.length === 0) return;
  if (config.unreadableRows === 'stop') throw unknownKey(unreadable, config);
  log.warn({ tables: unreadable }, 'rows are encrypted with a key that this node does not have');
}

async function sealedTables(sql: Sql): Promise<[table: string, rows: Sealed[]][]> {
  const webhooks = await listLastSealed(sql, ROWS_PER_TABLE);
  const fetches = await listLastRequests(sql, ROWS_PER_TABLE);
  const answers = await listLastAnswers(sql, ROWS_PER_TABLE);
  return [
    ['webhooks', webhooks.flatMap(sealedOf)],
    ['audio_fetches', fetches.map(({ jobId, request }) => [jobId, request])],
    ['idempotency_keys', answers.map(({ body, ...name }) => [answerPlace(name), body])],
  ];
}

function sealedOf({
  id,
  secret,
  previousSecret,
  headers,
}: Awaited<ReturnType<typeof listLastSealed>>[number]): Sealed[] {
  return [
    [id, secret],
    [id, previousSecret],
    [headersPlace(id), headers],
  ];
}

function unknownKey(tables: string[], { dataDir }: Config): UnknownKeyError {
  return new UnknownKeyError(
    `The database has rows (${tables.join(', ')}) that are encrypted with a key that this node does not have. Restore ` +
      `${dataPaths(dataDir).secretsKey} from your backup, or list the key in SECRETS_KEY; all nodes need the same. ` +
      'If the key is lost, start with UNREADABLE_ROWS=keep and rotate the secrets of the webhooks (docs/operations.md).',
  );
}
