// A transcriber that stops for ever at its n-th step and says so, to be killed there by a test:
// node test/crash-worker.ts <database url> <audio folder> <n>. A step is a statement, a begin, a commit or what follows one.
import { openFileStorage } from '../src/audio/storage/storage.ts';
import { readConfig } from '../src/config/settings.ts';
import type { Database, Sql } from '../src/db/database.ts';
import { openDatabase } from '../src/db/database.ts';
import { startTranscriber } from '../src/jobs/execution/worker.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openLog } from '../src/platform/log.ts';
import { openFakeEngine } from './fake-engine.ts';
import { TEST_TOOLS } from './tools.ts';

const [url = '', folder = '', stopAt = ''] = process.argv.slice(2);
let steps = 0;

async function step(): Promise<void> {
  if (++steps < Number(stopAt)) return;
  process.stdout.write('here\n');
  await new Promise(() => undefined);
}

function stepping(sql: Sql): Sql {
  return {
    rows: async (statement) => {
      await step();
      return await sql.rows(statement);
    },
    run: async (statement) => {
      await step();
      return await sql.run(statement);
    },
  };
}

const real = openDatabase(url, { maxConnections: 4 });
const db: Database = {
  ...real,
  ...stepping(real),
  async transaction(work) {
    await step();
    const result = await real.transaction(async (tx) => {
      const found = await work(stepping(tx));
      await step();
      return found;
    });
    await step();
    return result;
  },
};
const engine = openFakeEngine({ says: 'first' });
await startTranscriber({
  db,
  config: { ...readConfig({}), transcribeConcurrency: 1 },
  engines: { lite: engine, pro: engine },
  storage: await openFileStorage(folder),
  tools: TEST_TOOLS,
  clock: systemClock,
  log: openLog('silent'),
});
