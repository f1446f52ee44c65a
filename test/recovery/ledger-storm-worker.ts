// A transcriber that may be killed at any time: node test/recovery/ledger-storm-worker.ts <database url> <audio folder>
// <seed>. Its engine takes a random time and fails at random.
// It writes a line when it is ready, then a dot for each piece.
import { setTimeout as delay } from 'node:timers/promises';
import { openFileStorage } from '../../src/audio/storage/storage.ts';
import { readConfig } from '../../src/config/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { type Engine, EngineError } from '../../src/engines/engine.ts';
import { startTranscriber } from '../../src/jobs/execution/worker.ts';
import { endOrphan } from '../../src/live/session/orphan.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { randomFrom } from '../fixtures/random.ts';
import { TEST_TOOLS } from '../fixtures/tools.ts';
import { UNCOUNTED } from '../fixtures/uncounted.ts';

const [url = '', folder = '', seed = ''] = process.argv.slice(2);
const random = randomFrom(Number(seed));
const SLOTS = 6;
const LONGEST_CALL_MS = 150;
const FAILURES = 0.1;

const engine: Engine = {
  name: 'random',
  slots: SLOTS,
  warmUp: async () => undefined,
  async transcribe(piece, { signal }) {
    process.stdout.write('.');
    const isFailure = random.next() < FAILURES;
    await delay(random.integer(LONGEST_CALL_MS), undefined, { signal }).catch(() => signal.throwIfAborted());
    if (isFailure) throw new EngineError('engine_error', 'A failure of the test.');
    const segment = { text: 'word', startSeconds: 0, endSeconds: piece.length / 16_000, confidence: null, words: [] };
    return { segments: [segment], language: null };
  },
  async [Symbol.asyncDispose]() {},
};
await startTranscriber({
  ...UNCOUNTED,
  db: openDatabase(url, { maxConnections: 8 }),
  config: { ...readConfig({ AUDIO_RETENTION_HOURS: '0' }), transcribeConcurrency: SLOTS },
  engines: { lite: engine, pro: engine },
  storage: await openFileStorage(folder),
  endOrphan,
  tools: TEST_TOOLS,
  clock: systemClock,
  log: openLog('silent'),
});
process.stdout.write('ready\n');
