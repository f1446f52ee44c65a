// A live session that loses its connection: what was acknowledged is kept, another process goes on, and the first one
// can write nothing more.
import type { LiveDecoder, LiveEngine } from '../../src/engines/live/live-engine.ts';
import { acceptLive } from '../../src/jobs/api/accept-store.ts';
import { type Job, NO_AUDIO, NOTHING_REQUESTED } from '../../src/jobs/job.ts';
import { renewLeases } from '../../src/jobs/queue/lease-store.ts';
import { LeaseKeeper } from '../../src/jobs/work/lease-keeper.ts';
import { LiveJournal } from '../../src/live/session/journal.ts';
import { type LiveClaim, RunningSession } from '../../src/live/session/running-session.ts';
import { takeOverSession } from '../../src/live/session/take-over.ts';
import { makeId } from '../../src/platform/clock.ts';
import { openSemaphore } from '../../src/platform/semaphore.ts';
import { Slices } from '../../src/platform/slices.ts';
import { BOUNDS } from '../../src/rules/bounds.ts';
import { openParts } from './parts.ts';

await using parts = await openParts();
const { account, runtime } = parts;
const { db } = runtime;
const key = { shard: account.shard, accountId: account.id, id: makeId('job') };

// A session is a job whose audio comes in parts. Its first minute is held.
const audio = { encoding: 'pcm_s16le', sampleRate: 16_000, partials: false } as const;
const options = { ...audio, endpointingMs: 600, maxSegmentSeconds: 20, resumeSeconds: 60, idleSeconds: 300 };
const noAudio = { ...NO_AUDIO, format: 'pcm_s16le', sizeBytes: 0, durationMs: 0, heldUnits: 0 };
const owner = { ...key, keyId: null, unlimited: false, traceparent: null, filename: null, audioSource: null };
const session = { options, tokenHash: null, connectWithinMs: 60_000 };
await acceptLive(db, { ...owner, ...NOTHING_REQUESTED, ...noAudio, plan: 'lite' }, session);

/** A segment is what was said between two pauses. This engine says who heard it. */
function engineOf(process: string): LiveEngine {
  const text = `Heard by the ${process}.`;
  const end = async () => ({ text, words: [], confidence: null, language: 'en' });
  const segment = () => ({ write: () => undefined, end, close: () => undefined });
  const open = (): LiveDecoder => ({ segment, backlogSeconds: () => 0, close: () => undefined });
  return { name: 'tour', open } as unknown as LiveEngine;
}

/** A connection to a process: whoever takes the session over gets a higher lease. */
async function connect(process: string) {
  const leases = new LeaseKeeper<LiveClaim>(runtime, (claims, shard) =>
    renewLeases(db, claims, { shard, leaseMs: BOUNDS.leaseMs, now: null }),
  );
  const metrics = { liveConnected() {}, liveClosed() {}, liveAcknowledged() {}, liveTaken() {} };
  const shared = { slices: new Slices(), ends: openSemaphore(1), journal: new LiveJournal(runtime), leases };
  const taken = (await takeOverSession(db, key, `tour/${process}`))!;
  console.log(`${process}: takes over at ${taken.row.durableBytes} bytes`);
  const [acknowledged, text] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const [lost, ended] = [Promise.withResolvers<string>(), Promise.withResolvers<Job>()];
  const session = new RunningSession(
    { ...runtime, ...shared, liveMetrics: metrics, jobMetrics: { jobEnded() {} } },
    { ...taken, place: { engine: engineOf(process), rest() {}, wake: () => true, free() {} } },
    {
      acknowledged: (offset) => offset === spoken.length && acknowledged.resolve(),
      segment: (segment) => text.resolve(segment.text),
      lost: lost.resolve,
      ended: ended.resolve,
      pause: () => undefined,
      resume: () => undefined,
    },
  );
  const waits = { acknowledged: acknowledged.promise, text: text.promise, lost: lost.promise, ended: ended.promise };
  return { session, leases, ...waits };
}

/** Speech, and a pause that ends its segment. */
const samples = (seconds: number, level: number) =>
  new Int16Array(seconds * 16_000).map((_, at) => (at % 20 < 10 ? level : -level));
const spoken = Buffer.concat([samples(2, 9_000), samples(1, 1)].map(({ buffer }) => Buffer.from(buffer)));

const first = await connect('first');
first.session.write(spoken);
await first.acknowledged;
console.log(`first: "${await first.text}", all of ${spoken.length} bytes are acknowledged`);

// The connection is lost. The client asks another process, and sends again what was not acknowledged: nothing here.
const second = await connect('second');
first.session.write(spoken);
console.log(`first: its lease is ${await first.lost}`);
second.session.write(spoken);
void second.session.finish();
const job = await second.ended;
console.log(`ended: ${job.state}, ${job.durationMs} ms, "${job.transcript}"`);
await Promise.all([first.leases.close(), second.leases.close()]);
