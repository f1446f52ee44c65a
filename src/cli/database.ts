import { type Command, InvalidArgumentError } from 'commander';
import { action, type Io } from '../../cli/command.ts';
import { CommandError } from '../../cli/exit.ts';
import { SETTINGS } from '../config/settings.ts';
import { requireWholeDatabase } from '../db/backup/restore-marker.ts';
import { openDatabase } from '../db/database.ts';
import { checkCluster, DistributionError, distribute } from '../db/distribute.ts';
import { migrate } from '../db/schema/migrate.ts';
import { UnfinishedRestoreError } from '../db/unusable-database-error.ts';

const DEFAULT_SHARD_COUNT = 32;
// The service has 64 shards of its own: more parts would be empty.
const MAX_SHARD_COUNT = 64;

/** `verbatim database` */
export function define(command: Command, io: Io): void {
  command
    .command('distribute')
    .description(
      'spread the tables of the database that DATABASE_URL names (DATABASE_DIRECT_URL, if that is a pooler) over the workers of its ' +
        'Citus cluster. Stop all nodes first. It can be run again: what is distributed already stays as it is.',
    )
    .option(
      '--shard-count <number>',
      'the parts of each table, at least one per worker',
      readShardCount,
      DEFAULT_SHARD_COUNT,
    )
    .action(
      action<[], { shardCount: number }>(io, async ({ out }, { shardCount }) => {
        for (const line of await distributeDatabase(readUrl(io.env), shardCount)) out.line(line);
      }),
    );
}

function readShardCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_SHARD_COUNT) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_SHARD_COUNT}.`);
}

function readUrl(env: NodeJS.ProcessEnv): string {
  for (const setting of [SETTINGS.databaseDirectUrl, SETTINGS.databaseUrl]) {
    const text = env[setting.env];
    if (!text) continue;
    const read = setting.read(text);
    if ('mistake' in read) throw new CommandError(`${setting.env} ${read.mistake}.`);
    if (read.value !== null) return read.value;
  }
  throw new CommandError('Set DATABASE_URL to the coordinator: the embedded database cannot be distributed.');
}

async function distributeDatabase(url: string, shardCount: number): Promise<string[]> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    const workers = await checkCluster(db);
    await requireWholeDatabase(db);
    await migrate(db);
    const { added, already } = await distribute(db, { shardCount });
    return [
      ...added.map((name) => `${name} is distributed`),
      `${added.length + already.length} tables are distributed over ${workers} workers, ${added.length} of them now.`,
    ];
  } catch (cause) {
    if (cause instanceof DistributionError || cause instanceof UnfinishedRestoreError)
      throw new CommandError(cause.message, undefined, { cause });
    throw new CommandError(`The database was not distributed: ${(cause as Error).message}`, undefined, { cause });
  } finally {
    await db.close();
  }
}
