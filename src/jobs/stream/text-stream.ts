import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { AnswerMemory } from '../../http/route.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import { toText } from '../../rules/jobs/transcript-text.ts';
import type { Job } from '../job.ts';
import { findPieces } from '../queue/piece-store.ts';
import type { JobKey } from '../store.ts';
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
type Attempt = { lease: number; pieces: number; text: string };

/** Follows the text of a job, piece by piece. A slow reader delays only its own stream. */
export async function* streamText(
  runtime: Runtime & { memory: AnswerMemory },
  key: JobKey & { accountId: string },
  subscription: JobSubscription,
  signal: AbortSignal,
): AsyncGenerator<TextEvent> {
  using _subscription = subscription;
  const { db, clock } = runtime;
  const attempt: Attempt = { lease: -1, pieces: 0, text: '' };
  let sent = '';
  while (!signal.aborted && !subscription.isClosed()) {
    const changed = subscription.next();
    using held = new DisposableStack();
    const job = await readHeldJob(runtime, key, held);
    if (job === 'refused') break;
    if (job === null) return yield { kind: 'deleted' };
    if (job !== undefined) {
      for await (const text of textsOf(db, job, attempt)) {
        const delta = deltaOf(sent, text);
        if (delta === null) return yield { kind: 'diverged' };
        sent += delta;
        if (delta !== '') yield { kind: 'delta', text: delta };
      }
      if (job.state === 'completed' && sent !== job.transcript) return yield { kind: 'diverged' };
      if (isTerminal(job.state)) return yield { kind: 'ended', job };
    }
    const isChanged = await waitAtMost(clock, changed, KEEP_ALIVE_MS, signal);
    if (!isChanged && !signal.aborted) yield { kind: 'idle' };
  }
  yield { kind: 'interrupted' };
}

/**
 * The text from the start of the audio to the end of each piece that was not read before, or that of the completed job.
 */
async function* textsOf(db: Database, job: Job, attempt: Attempt): AsyncGenerator<string> {
  if (job.state === 'completed') yield job.transcript ?? '';
  // Speakers divide segments, which changes the spaces in languages without spaces: the text is known at the end only.
  if (job.state !== 'processing' || job.options.diarize) return;
  if (job.lease !== attempt.lease) Object.assign(attempt, { lease: job.lease, pieces: 0, text: '' });
  while (true) {
    const page = { firstNumber: attempt.pieces, limit: PIECES_PER_READ };
    const pieces = (await orUndefinedWhileAway(findPieces(db, job, page))) ?? [];
    for (const { segments } of pieces) {
      const text = toText(JSON.parse(segments) as { text: string }[]);
      attempt.pieces += 1;
      attempt.text = [attempt.text, text].filter((part) => part !== '').join(' ');
      yield attempt.text;
    }
    if (pieces.length < PIECES_PER_READ) return;
  }
}

/** The part of the text after `sent`: empty when the text has not come as far yet, null when the two differ. */
function deltaOf(sent: string, text: string): string | null {
  if (text.startsWith(sent)) return text.slice(sent.length);
  return sent.startsWith(text) ? '' : null;
}
