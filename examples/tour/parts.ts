// What the three programs of this folder run on: a database of their own, a folder for audio, an account, an engine.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { insertAccount } from '../../src/accounts/store.ts';
import { openFileStorage } from '../../src/audio/storage/storage.ts';
import { readConfig } from '../../src/config/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { startEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { makeId, systemClock } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { unitsFromCredits } from '../../src/rules/jobs/price.ts';

/** @param env  settings that differ from the defaults */
export async function openParts(env: Record<string, string> = {}) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'verbatim-tour-'));
  // The test names an empty database. By hand, a PostgreSQL starts in the folder, and ends with the program.
  const url = process.env['EXAMPLES_DATABASE_URL'];
  const quiet = { debug() {}, warn() {} };
  const server = url ? null : await startEmbedded({ dir: path.join(folder, 'database'), log: quiet });
  const db = openDatabase(url ?? server!.url, { maxConnections: 10 });
  await migrate(db);
  const storage = await openFileStorage(path.join(folder, 'audio'));
  const runtime = { db, storage, config: readConfig(env), clock: systemClock, log: openLog('silent') };
  const wish = { name: 'tour', plan: 'lite', units: unitsFromCredits(10), ledgerId: makeId('led') } as const;
  return {
    runtime,
    account: await insertAccount(db, { id: makeId('acct'), ...wish }),
    async [Symbol.asyncDispose]() {
      await db.close();
      await server?.stop();
      await rm(folder, { recursive: true });
    },
  };
}
