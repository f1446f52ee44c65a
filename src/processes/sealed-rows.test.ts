import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { readConfig } from '../config/settings.ts';
import { UnknownKeyError } from '../db/unusable-database-error.ts';
import { openLog } from '../platform/log.ts';
import { sealHeaders } from '../webhooks/secrets/own-headers.ts';
import { openSecretBox } from '../webhooks/secrets/secrets.ts';
import { prepareOutside } from './outside-database.ts';
import { requireKeys } from './sealed-rows.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const box = openSecretBox(OLD);
const fresh = openSecretBox(NEW);
const log = openLog('silent');

function startWith(secretsKeys: Buffer[], env: Record<string, string> = {}) {
  return { config: readConfig({ DATA_DIR: '/data', ...env }), secretsKeys, log };
}

const WEBHOOK = `
  insert into webhooks (shard, id, account_id, url, events, secret, previous_secret, previous_secret_ends_at, headers,
    created_at, updated_at)
  values (1, 'wh_1', 'acct_1', 'https://example.com', '{}', $1, $2, now() + $4 * interval '1 hour', $3, now(), now())`;

const ROWS = [
  { what: 'the secret of a webhook', text: WEBHOOK, values: [box.seal('wh_1', 's'), null, null, null] },
  {
    what: 'the earlier secret of a webhook',
    text: WEBHOOK,
    values: [fresh.seal('wh_1', 's'), box.seal('wh_1', 't'), null, 1],
  },
  {
    what: 'the headers of a webhook',
    text: WEBHOOK,
    values: [fresh.seal('wh_1', 's'), null, sealHeaders(box, 'wh_1', {}), null],
  },
  {
    what: 'a fetch of audio',
    text: `
      insert into audio_fetches (shard, job_id, account_id, request, next_at, created_at)
      values (1, 'job_1', 'acct_1', $1, now(), now())`,
    values: [box.seal('job_1', '{}')],
  },
  {
    what: 'an answer for an Idempotency-Key',
    text: `
      insert into idempotency_keys (shard, account_id, key, route, state, lease, lease_ends_at, expires_at, fingerprint,
        status, body)
      values (1, 'acct_1', 'k', '', 'answered', 1, now(), now() + interval '1 hour', '', 200, $1)`,
    values: [box.seal('acct_1 k', '{}')],
  },
];
for (const { what, ...statement } of ROWS) {
  test(`a start without the key of ${what} is refused, and one that lists the key is not`, async () => {
    await using db = await openTestDatabase();
    await db.run(statement);

    await assert.rejects(requireKeys(db, startWith([NEW])), UnknownKeyError);
    await requireKeys(db, startWith([NEW, OLD]));
    await requireKeys(db, startWith([NEW], { UNREADABLE_ROWS: 'keep' }));
  });
}

test('what is not in use any more needs no key', async () => {
  await using db = await openTestDatabase();
  await db.run({ text: WEBHOOK, values: [fresh.seal('wh_1', 's'), box.seal('wh_1', 't'), null, -1] });
  await db.run(ROWS.at(-1)!);
  await db.run({ text: `update idempotency_keys set expires_at = now()` });

  await assert.doesNotReject(requireKeys(db, startWith([NEW])));
});

test('the start on a database whose rows need another key ends, and says what to restore', async () => {
  await using db = await openTestDatabase();
  await db.run(ROWS[0]!);
  const signal = new AbortController().signal;

  const starting = prepareOutside(
    { url: db.url, directUrl: db.url },
    { log, signal, check: (sql) => requireKeys(sql, startWith([NEW])) },
  );

  await assert.rejects(
    starting,
    /\(webhooks\) .* Restore \/data\/secrets-key from your backup, or list the key in SECRETS_KEY/,
  );
});
