import { chmodSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from '../src/db/embedded/server.ts';
import { openLog } from '../src/platform/log.ts';
import { startOutside } from '../test/fixtures/database/outside-postgres.ts';
import { temporaryFolder } from '../test/fixtures/service.ts';

export type BenchDatabase = Pick<EmbeddedDatabase, 'url' | 'pid' | 'stop'>;

/** Whether the benchmarks run on the system's PostgreSQL: BENCH_DATABASE=external. */
const isExternal = process.env['BENCH_DATABASE'] === 'external';

/** The embedded PostgreSQL, or the system's: over TCP, and apart from the given settings with its own defaults. */
export async function startDatabase(options: Omit<EmbeddedOptions, 'log'>): Promise<BenchDatabase> {
  if (!isExternal) return await startEmbedded({ ...options, log: openLog('warn') });
  // PostgreSQL's user, which is another one where the bench runs as root, reads below.
  chmodSync(path.dirname(options.dir), 0o755);
  const database = await startOutside(options.dir, options.settings ?? {});
  console.log(`  on ${database.version}`);
  return database;
}

/** What makes a service use the database of the benchmark: nothing for the embedded one, which it starts by itself. */
export async function startServiceDatabase(): Promise<AsyncDisposable & { env: Record<string, string> }> {
  if (!isExternal) return { env: {}, [Symbol.asyncDispose]: async () => undefined };
  const folder = temporaryFolder();
  const database = await startDatabase({ dir: path.join(folder, 'database') });
  return {
    env: { DATABASE_URL: database.url },
    async [Symbol.asyncDispose]() {
      await database.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
