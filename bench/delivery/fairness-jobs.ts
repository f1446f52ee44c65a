import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { insertAccount } from '../../src/accounts/store.ts';
import type { AudioStorage } from '../../src/audio/storage/storage.ts';
import { readConfig } from '../../src/config/settings.ts';
import type { Database } from '../../src/db/database.ts';
import { type Engine, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { acceptJob } from '../../src/jobs/api/accept-store.ts';
import { startTranscriber } from '../../src/jobs/execution/worker.ts';
import { NOTHING_REQUESTED } from '../../src/jobs/job.ts';
import { endOrphan } from '../../src/live/session/orphan.ts';
import { makeId, systemClock } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { toneWav } from '../../test/fixtures/audio/test-audio.ts';
import { TEST_TOOLS } from '../../test/fixtures/tools.ts';
import { UNCOUNTED } from '../../test/fixtures/uncounted.ts';
import { report, round, spread } from '../figures.ts';

const JOB_MS = 500;
const ACCOUNTS = 20;

/** (c) One account has very many jobs waiting; how long the first job of each of some others waits to be started. */
export async function measureJobTurns(db: Database, folder: string, waiting: number): Promise<void> {
  await db.run({ text: 'truncate jobs, job_queues, job_pieces' });
  const file = path.join(folder, 'tone.wav');
  writeFileSync(file, toneWav('so it'));
  const transcriber = {
    db,
    config: { ...readConfig({}), transcribeConcurrency: 1 },
    storage: storageOf(file),
    endOrphan,
    tools: TEST_TOOLS,
    clock: systemClock,
    log: openLog('warn'),
    engines: { lite: slowEngine(), pro: slowEngine() },
    ...UNCOUNTED,
  };
  const busy = await openAccount(db);
  await db.transaction(async (tx) => {
    for (let n = 0; n < waiting; n++) await queueJob(tx, busy);
  });
  const running = await startTranscriber(transcriber);
  await delay(4 * JOB_MS);
  const ids: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++) {
    // At no fixed point of the job that runs.
    await delay(JOB_MS * (1 + Math.random()));
    ids.push(await queueJob(db, await openAccount(db)));
  }
  await delay(4 * JOB_MS);
  await running.stop();
  const rows = await db.rows<{ id: string; waitedMs: number; ranMs: number }>({
    text: `select id, extract(epoch from started_at - created_at)::float8 * 1000 as "waitedMs",
        extract(epoch from completed_at - started_at)::float8 * 1000 as "ranMs"
      from jobs where state = 'completed'`,
  });
  const longestRunMs = Math.max(...rows.map(({ ranMs }) => ranMs));
  const waits = rows.filter(({ id }) => ids.includes(id)).map(({ waitedMs }) => waitedMs);
  const { p50, max } = spread(waits);
  report(
    `${waiting} jobs of one account: the first job of another waits, ms`,
    `p50 ${p50}, max ${max} (${waits.length} of ${ids.length} ended)`,
    `<= ${round(longestRunMs)}, one running job`,
  );
}

async function openAccount(db: Database) {
  return await insertAccount(db, {
    id: makeId('acct'),
    name: 'bench',
    plan: 'pro',
    units: null,
    ledgerId: makeId('led'),
  });
}

async function queueJob(db: Parameters<typeof acceptJob>[0], account: { shard: number; id: string }): Promise<string> {
  const id = makeId('job');
  await acceptJob(db, {
    ...NOTHING_REQUESTED,
    shard: account.shard,
    id,
    accountId: account.id,
    keyId: null,
    plan: 'pro',
    filename: null,
    audioSource: null,
    traceparent: null,
    unlimited: true,
    format: 'wav',
    sizeBytes: 1,
    tracks: [],
    audioKey: id,
    durationMs: 1_000,
    heldUnits: 0,
  });
  return id;
}

/** Every job has the same audio, and it stays. */
function storageOf(file: string): AudioStorage {
  return {
    receive: () => Promise.reject(new Error('nothing is uploaded here')),
    localPath: async () => ({ path: file, [Symbol.asyncDispose]: async () => undefined }),
    read: async () => null,
    isComplete: async () => true,
    copy: async () => null,
    remove: async () => undefined,
    async *listOlderThan() {},
    freeBytes: async () => Number.MAX_SAFE_INTEGER,
    openScratch: () => Promise.reject(new Error('nothing is recorded here')),
  };
}

/** One call at a time, each as long. */
function slowEngine(): Engine {
  return {
    name: 'slow',
    slots: 1,
    warmUp: async () => undefined,
    async transcribe(piece) {
      await delay(JOB_MS);
      const segment = {
        text: 'so it',
        startSeconds: 0,
        endSeconds: piece.length / SAMPLE_RATE,
        confidence: null,
        words: [],
      };
      return { segments: [segment], language: 'en' };
    },
    async [Symbol.asyncDispose]() {},
  };
}
