export const JOB_STATES = ['queued', 'processing', 'completed', 'failed', 'canceled'] as const;
export type JobState = (typeof JOB_STATES)[number];

type Move = { from: JobState; move: string; to: JobState; meaning: string };

/**
 * Every legal move of a job. The statements take their states from this table (`src/jobs/queue/moves.ts`), and
 * docs/states.md is generated from it.
 */
export const JOB_MOVES = [
  {
    from: 'queued',
    move: 'start',
    to: 'processing',
    meaning: 'a transcriber claims the job, or the client of a live session connects',
  },
  { from: 'queued', move: 'cancel', to: 'canceled', meaning: 'the client cancels the job before it starts' },
  { from: 'queued', move: 'fail', to: 'failed', meaning: 'audio from a URL cannot be fetched, read or paid for' },
  {
    from: 'processing',
    move: 'hand_back',
    to: 'queued',
    meaning: 'the transcriber stops and returns the job to the queue',
  },
  {
    from: 'processing',
    move: 'wait',
    to: 'queued',
    meaning: 'the speech engine or the audio storage is away; pieces that are done are kept, and no attempt is counted',
  },
  { from: 'processing', move: 'release', to: 'queued', meaning: 'the transcriber process ended, or the lease expired' },
  {
    from: 'processing',
    move: 'complete',
    to: 'completed',
    meaning: 'the transcript is stored and its cost is charged',
  },
  {
    from: 'processing',
    move: 'fail',
    to: 'failed',
    meaning: 'the audio, the engine or the balance does not allow a transcript',
  },
  { from: 'processing', move: 'cancel', to: 'canceled', meaning: 'the client cancels the job while it runs' },
  {
    from: 'processing',
    move: 'take_over',
    to: 'processing',
    meaning: 'the client of a live session connects again; the former process loses the lease',
  },
] as const satisfies readonly Move[];

export type JobMove = (typeof JOB_MOVES)[number]['move'];

/** Whether a job in this state never moves again. */
export function isTerminal(state: JobState): boolean {
  return !JOB_MOVES.some((row) => row.from === state);
}

/** What a queued job may wait for, beside its turn. */
export const WAITING_FOR = ['engine', 'storage', 'model'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

/** What the jobs of a plan wait for, and since when. */
export type Wait = { waitingFor: WaitingFor; since: Date };

/** Since when this job waits: at the earliest since it was sent. */
export function waitingSince(wait: Wait, createdAt: Date): Date {
  return wait.since > createdAt ? wait.since : createdAt;
}
