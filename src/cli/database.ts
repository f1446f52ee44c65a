import { parseArgs } from 'node:util';
import { SETTINGS } from '../config/settings.ts';
import { openDatabase } from '../db/database.ts';
import { checkCluster, DistributionError, distribute } from '../db/distribute.ts';
import { migrate } from '../db/migrate.ts';
import { CommandError, printResult } from './main.ts';

const USAGE = `usage: verbatim database distribute [--shard-count <number>]

Spreads the tables of the database that DATABASE_URL names (DATABASE_DIRECT_URL, if that is a pooler) over the workers of its Citus
cluster. Stop all nodes first. It can be run again: what is distributed already stays as it is.

--shard-count: the parts of each table (default 32, at most 64). There must be at least one per worker.
`;

const DEFAULT_SHARD_COUNT = 32;
// The service has 64 shards of its own: more parts would be empty.
const MAX_SHARD_COUNT = 64;

/**
 * Runs one `verbatim database` command; resolves to the text to print.
 * @param args  the words after `database`
 * @throws CommandError  with a sentence that says what to do
 */
export async function runDatabaseCommand(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { positionals, values } = readArguments(args);
  if (values.help || positionals.length === 0) return USAGE;
  const command = positionals.join(' ');
  if (command !== 'distribute') throw new CommandError(`There is no command "database ${command}".\n\n${USAGE}`);
  const shardCount = Number(values['shard-count'] ?? DEFAULT_SHARD_COUNT);
  if (!Number.isInteger(shardCount) || shardCount < 1 || shardCount > MAX_SHARD_COUNT)
    throw new CommandError(`--shard-count must be a whole number from 1 to ${MAX_SHARD_COUNT}.`);
  return await distributeDatabase(readUrl(env), shardCount);
}

function readArguments(args: string[]) {
  try {
    const options = { 'shard-count': { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
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

async function distributeDatabase(url: string, shardCount: number): Promise<string> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    const workers = await checkCluster(db);
    await migrate(db);
    const { added, already } = await distribute(db, { shardCount });
    const lines = [
      ...added.map((name) => `${name} is distributed`),
      `${added.length + already.length} tables are distributed over ${workers} workers, ${added.length} of them now.`,
    ];
    return lines.map((line) => `${line}\n`).join('');
  } catch (cause) {
    if (cause instanceof DistributionError) throw new CommandError(cause.message, { cause });
    throw new CommandError(`The database was not distributed: ${(cause as Error).message}`, { cause });
  } finally {
    await db.close();
  }
}

if (import.meta.main) printResult(runDatabaseCommand(process.argv.slice(2), process.env));
