export type SessionPhase = 'running' | 'finishing' | 'leaving' | 'ending' | 'ended' | 'left' | 'lost';

type Move = { from: SessionPhase; move: string; to: SessionPhase; meaning: string };

/**
 * Every legal move of a live session in the process that has taken it over. Before, there is only its job; after
 * `left` and `lost` another process may go on with it.
 */
export const SESSION_MOVES = [
  {
    from: 'running',
    move: 'finish',
    to: 'finishing',
    meaning: 'the client has no more audio, or a limit is reached: nothing more is taken, and what came is decoded',
  },
  {
    from: 'running',
    move: 'leave',
    to: 'leaving',
    meaning: 'the client is gone, or cancels, or the process stops: what came is committed, and nothing more is taken',
  },
  { from: 'finishing', move: 'leave', to: 'leaving', meaning: 'the process stops before everything is decoded' },
  { from: 'finishing', move: 'end', to: 'ending', meaning: 'all segments are durable: the end of the job is written' },
  { from: 'ending', move: 'end', to: 'ended', meaning: 'the job has ended' },
  { from: 'leaving', move: 'leave', to: 'left', meaning: 'what came is durable: the job waits for its client' },
  { from: 'running', move: 'lose', to: 'lost', meaning: 'another process has the session, or this one cannot go on' },
  { from: 'finishing', move: 'lose', to: 'lost', meaning: 'as from running' },
  { from: 'ending', move: 'lose', to: 'lost', meaning: 'as from running, or the job has ended elsewhere' },
  { from: 'leaving', move: 'lose', to: 'lost', meaning: 'as from running, or the client has canceled the job' },
] as const satisfies readonly Move[];

export type SessionMove = (typeof SESSION_MOVES)[number]['move'];

/** The phase after a move. Throws when `SESSION_MOVES` has no such move from this phase. */
export function phaseAfter(from: SessionPhase, move: SessionMove): SessionPhase {
  const row = SESSION_MOVES.find((each) => each.from === from && each.move === move);
  if (row === undefined) throw new Error(`a live session that is ${from} cannot ${move}`);
  return row.to;
}

/** Whether the process does nothing more for a session in this phase. */
export function isOver(phase: SessionPhase): boolean {
  return !SESSION_MOVES.some((row) => row.from === phase);
}
