// A job without HTTP, in the order of its life: audio, the statement that accepts the job, a transcriber, the end.
import { Readable } from 'node:stream';
import { listEntries } from '../../src/accounts/ledger/ledger-store.ts';
import type { Engine } from '../../src/engines/engine.ts';
import { wavHeader } from '../../src/engines/wav-header.ts';
import { NO_IDEMPOTENCY_KEY } from '../../src/http/route.ts';
import { createJob } from '../../src/jobs/api/create.ts';
import { startTranscriber } from '../../src/jobs/execution/worker.ts';
import { NOTHING_REQUESTED } from '../../src/jobs/job.ts';
import { findJob } from '../../src/jobs/store.ts';
import { openCompletionWaiter } from '../../src/jobs/stream/completion-waiter.ts';
import { endOrphan } from '../../src/live/session/orphan.ts';
import { makeId } from '../../src/platform/clock.ts';
import { creditsFromUnits } from '../../src/rules/jobs/price.ts';
import { openParts } from './parts.ts';

await using parts = await openParts();
const { runtime, account } = parts;
const id = makeId('job');
const jobKey = { shard: account.shard, accountId: account.id, id };

// An upload streams into the storage. A job is made when its audio survives a power failure.
const pcm = new Int16Array(16_000).fill(1_000);
const upload = [wavHeader(pcm), new Uint8Array(pcm.buffer)];
const { key, sizeBytes, durable } = await runtime.storage.receive(Readable.from(upload), { maxBytes: 1e6 });
await durable;

// One statement holds the cost, inserts the job and counts it among those that wait.
const audio = {
  kind: 'stored' as const,
  key,
  sizeBytes,
  filename: 'tone.wav',
  format: 'wav',
  durationMs: 1_000,
  tracks: [],
};
const request = { ...NOTHING_REQUESTED, plan: 'lite' as const };
const order = { id, account, keyId: null, request, audio, rate: 1, idempotency: NO_IDEMPOTENCY_KEY };
const accepted = await createJob(runtime, order);
console.log(`accepted: ${accepted.state}, ${creditsFromUnits(accepted.heldUnits)} credits are held`);

// Any transcriber of any node claims it under a lease, and ends it in one statement too. An engine is one function.
const completions = await openCompletionWaiter(runtime);
using watch = completions.subscribe(jobKey);
const segment = { text: 'One second.', startSeconds: 0, endSeconds: 1, confidence: null, words: [] };
const engine = {
  name: 'tour',
  slots: 1,
  transcribe: async () => ({ language: 'en', segments: [segment] }),
} as unknown as Engine;
const jobMetrics = { jobEnded: () => undefined };
const engines = { lite: engine, pro: engine };
const transcriber = await startTranscriber({ ...runtime, engines, tools: { folder: null }, endOrphan, jobMetrics });
await watch.ended;
await transcriber.stop();
await completions.close();

const job = await findJob(runtime.db, jobKey);
console.log(`ended: ${job!.state}, "${job!.transcript}", attempt ${job!.attempts}`);
const entries = await listEntries(runtime.db, account, { limit: 10, beforeNumber: null });
for (const { kind, amountAfter, heldAfter } of entries.toReversed()) {
  console.log(`${kind}: ${creditsFromUnits(amountAfter)} credits, ${creditsFromUnits(heldAfter)} held`);
}
