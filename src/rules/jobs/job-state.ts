export const JOB_STATES = ['queued', 'processing', 'completed', 'failed', 'canceled'] as const;
export type JobState = (typeof JOB_STATES)[number];

export type JobMove = 'start' | 'hand_back' | 'release' | 'complete' | 'fail' | 'cancel';

type Move = { from: JobState; move: JobMove; to: JobState; meaning: string };

/** Every legal move of a job. docs/states.md is made from this table. */
export const JOB_MOVES: readonly Move[] = [
  { from: 'queued', move: 'start', to: 'processing', meaning: 'a transcriber claims it' },
  { from: 'queued', move: 'cancel', to: 'canceled', meaning: 'the client cancels before the start' },
  { from: 'processing', move: 'hand_back', to: 'queued', meaning: 'the transcriber stops and gives it back' },
  { from: 'processing', move: 'release', to: 'queued', meaning: 'the transcriber ended, or its lease did' },
  { from: 'processing', move: 'complete', to: 'completed', meaning: 'the transcript is stored and charged' },
  { from: 'processing', move: 'fail', to: 'failed', meaning: 'audio, engine or balance do not allow an end' },
  { from: 'processing', move: 'cancel', to: 'canceled', meaning: 'the client cancels while it runs' },
];

/** The state a move leads to; null when the move is not legal from there. */
export function nextState(state: JobState, move: JobMove): JobState | null {
  return JOB_MOVES.find((row) => row.from === state && row.move === move)?.to ?? null;
}

/** Whether a job in this state never moves again. */
export function isTerminal(state: JobState): boolean {
  return !JOB_MOVES.some((row) => row.from === state);
}
