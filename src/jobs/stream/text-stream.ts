import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { AnswerMemory } from '../../http/route.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { toText } from '../../rules/jobs/transcript-text.ts';
import type { Job } from '../job.ts';
import { findPieces } from '../queue/piece-store.ts';
import type { JobKey } from '../store.ts';
import { GrowingText } from './growing-text.ts';
import { readHeldJob } from './held-job.ts';
import type { JobSubscription } from './job-notifications.ts';
import { orUndefinedWhileAway } from './while-away.ts';

/** The text of a job as it grows. All kinds but the first two are the last event of a stream. */
export type TextEvent =
  | { kind: 'delta'; text: string }
  /** Nothing has changed for 15 s. */
  | { kind: 'idle' }
  /** The deltas of a completed job add up to its text. */
  | { kind: 'ended'; job: Job }
  | { kind: 'deleted' }
  /** The job was started again, and its text now differs from the deltas. */
  | { kind: 'diverged' }
  /** The service stops, the request is over, or there is no memory for the text. */
  | { kind: 'interrupted' };

// Below the 60 s after which proxies commonly close an idle connection.
const KEEP_ALIVE_MS = 15_000;
const PIECES_PER_READ = 50;

/** What is known of the text in the present attempt. */
type Attempt = { lease: number; pieces: number };

/** Follows the text of a job, piece by piece. A slow reader delays only its own stream. */
export async function* streamText(
  runtime: Runtime & { memory: AnswerMemory },
  key: JobKey & { accountId: string },
  subscription: JobSubscription,
  signal: AbortSignal,
): AsyncGenerator<TextEvent> {
  using _subscription = subscription;
  const { db, clock } = runtime;
  const attempt: Attempt = { lease: -1, pieces: 0 };
  const text = new GrowingText();
  while (!signal.aborted && !subscription.isClosed()) {
    const changed = subscription.next();
    using held = new DisposableStack();
    const job = await readHeldJob(runtime, key, { held, signal });
    if (job === 'refused') break;
    if (job === null) return yield { kind: 'deleted' };
    if (job !== undefined) {
      for await (const delta of deltasOf(db, job, { attempt, text })) {
        if (delta === null) return yield { kind: 'diverged' };
        if (delta !== '') yield { kind: 'delta', text: delta };
      }
      if (isTerminal(job.state)) return yield { kind: 'ended', job };
    }
    const isChanged = await waitAtMost(clock, changed, KEEP_ALIVE_MS, signal);
    if (!isChanged && !signal.aborted) yield { kind: 'idle' };
  }
  yield { kind: 'interrupted' };
}

/** What is to be sent of each piece that was not read before, or of the completed job; null when it differs. */
async function* deltasOf(
  db: Database,
  job: Job,
  { attempt, text }: { attempt: Attempt; text: GrowingText },
): AsyncGenerator<string | null> {
  if (job.state === 'completed') yield text.end(job.transcript ?? '');
  // Speakers divide segments, which changes the spaces in languages without spaces: the text is known at the end only.
  if (job.state !== 'processing' || job.options.diarize) return;
  if (job.lease !== attempt.lease) {
    Object.assign(attempt, { lease: job.lease, pieces: 0 });
    text.restart();
  }
  while (true) {
    const page = { firstNumber: attempt.pieces, limit: PIECES_PER_READ };
    const pieces = (await orUndefinedWhileAway(findPieces(db, job, page))) ?? [];
    for (const { segments } of pieces) {
      attempt.pieces += 1;
      yield text.add(toText(JSON.parse(segments) as { text: string }[]));
    }
    if (pieces.length < PIECES_PER_READ) return;
  }
}
