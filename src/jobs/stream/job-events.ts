import type { Runtime } from '../../db/runtime.ts';
import type { AnswerMemory } from '../../http/route.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { writeJson } from '../../platform/json.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { segmentEvents } from '../../rules/transcript/segment-events.ts';
import { runTask } from '../edits/run-task.ts';
import type { Job } from '../job.ts';
import { findPieces, leaseOfPieces } from '../queue/piece-store.ts';
import type { QueuePositions } from '../queue/queue-position.ts';
import type { JobKey } from '../store.ts';
import { showError } from '../view.ts';
import type { PlanWaits } from '../waiting/plan-waits.ts';
import { readHeldJob } from './held-job.ts';
import type { JobSubscription } from './job-notifications.ts';
import { orUndefinedWhileAway } from './while-away.ts';

/** What the events of jobs are read by. */
type JobEventSources = Runtime & { positions: QueuePositions; waits: PlanWaits; memory: AnswerMemory };

// Below the 60 s after which proxies commonly close an idle connection.
const KEEP_ALIVE_MS = 15_000;
const RECONNECT_AFTER_MS = 2_000;
const PIECES_PER_READ = 50;

/** What was sent to the client so far. */
type Sent = { status: string; progress: number; lease: number; pieces: number; segments: number };

/**
 * A job as server-sent events: `status`, `progress` and `segment`, until the job ends or is deleted, or `signal`
 * aborts. Everything known comes first, so that a client that connects again misses nothing. Segments are numbered;
 * they start again from 0 when the job is started again. A slow reader delays only its own stream.
 */
export async function* streamJobEvents(
  runtime: JobEventSources,
  key: JobKey & { accountId: string },
  subscription: JobSubscription,
  signal: AbortSignal,
): AsyncGenerator<string> {
  using _subscription = subscription;
  const sent: Sent = { status: '', progress: -1, lease: -1, pieces: 0, segments: 0 };
  yield `retry: ${RECONNECT_AFTER_MS}\n\n`;
  while (!signal.aborted && !subscription.isClosed()) {
    const changed = subscription.next();
    using held = new DisposableStack();
    const job = await readHeldJob(runtime, key, { held, signal });
    // A client that was refused connects again.
    if (job === null || job === 'refused') return;
    if (job !== undefined) {
      try {
        yield* eventsOf(runtime, job, sent, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      if (isTerminal(job.state)) return;
    }
    const isChanged = await waitAtMost(runtime.clock, changed, KEEP_ALIVE_MS, signal);
    if (!isChanged) yield ': keep-alive\n\n';
  }
}

async function* eventsOf(runtime: JobEventSources, job: Job, sent: Sent, signal: AbortSignal): AsyncGenerator<string> {
  const lease = leaseOfPieces(job);
  if (lease !== sent.lease) Object.assign(sent, { lease, pieces: 0, segments: 0 });
  // The status that ends the stream comes last.
  if (!isTerminal(job.state)) yield* statusEvents(runtime, job, sent);
  yield* progressEvents(job, sent);
  if (job.state === 'processing') yield* pieceEvents(runtime, job, sent);
  if (job.state === 'completed')
    yield* await runTask({ clock: runtime.clock, signal }, 'listSegmentEvents', job, sent.segments);
  if (isTerminal(job.state)) yield* statusEvents(runtime, job, sent);
}

async function* statusEvents(runtime: JobEventSources, job: Job, sent: Sent): AsyncGenerator<string> {
  const position = await orUndefinedWhileAway(runtime.positions.of(job));
  const [shown] = (await orUndefinedWhileAway(runtime.waits.addTo([job]))) ?? [job];
  const status = writeJson({
    id: job.id,
    status: job.state,
    ...(shown?.wait && { waiting_for: shown.wait.waitingFor, waiting_since: shown.wait.since.toISOString() }),
    ...(position && { queue_position: position }),
    error: showError(job),
  });
  if (status === sent.status) return;
  sent.status = status;
  yield `event: status\ndata: ${status}\n\n`;
}

function* progressEvents(job: Job, sent: Sent): Generator<string> {
  if (job.progress === sent.progress) return;
  sent.progress = job.progress;
  yield `event: progress\ndata: ${writeJson({ progress: job.progress })}\n\n`;
}

async function* pieceEvents(runtime: JobEventSources, job: Job, sent: Sent): AsyncGenerator<string> {
  while (true) {
    const page = { firstNumber: sent.pieces, limit: PIECES_PER_READ };
    const pieces = (await orUndefinedWhileAway(findPieces(runtime.db, job, page))) ?? [];
    for (const { segments: text } of pieces) {
      const segments = JSON.parse(text) as object[];
      yield* segmentEvents(segments, sent.segments);
      sent.segments += segments.length;
    }
    sent.pieces += pieces.length;
    if (pieces.length < PIECES_PER_READ) return;
  }
}
