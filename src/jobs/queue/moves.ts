import { JOB_MOVES, type JobMove, type JobState } from '../../rules/jobs/job-state.ts';

/** SQL that changes the state of a job: `to` for `set`, `from` for `where`. */
type MoveSql = { to: string; from: string };

/**
 * SQL of moves of `JOB_MOVES` that lead to one state: an assignment of this state, and the condition that the job is in
 * a state from which one of the moves starts.
 */
export function moveSql(...moves: [JobMove, ...JobMove[]]): MoveSql {
  const rows = JOB_MOVES.filter(({ move }) => moves.includes(move));
  const [to, ...others] = new Set(rows.map((row) => row.to));
  if (others.length > 0) throw new Error(`${moves.join(' and ')} lead to different states`);
  const from = [...new Set(rows.map((row) => `'${row.from}'`))];
  return { to: `state = '${to}'`, from: from.length === 1 ? `state = ${from[0]}` : `state in (${from.join(', ')})` };
}

/**
 * SQL of a move from one state, where a parameter of the statement has the next one: the value of the parameter is a
 * result of `nextState`.
 */
export function moveToSql(from: JobState, parameter: string): MoveSql {
  return { to: `state = ${parameter}`, from: `state = '${from}'` };
}

/** The second state. Throws when `JOB_MOVES` has no move from the first one to it. */
export function nextState(from: JobState, to: JobState): JobState {
  if (JOB_MOVES.some((row) => row.from === from && row.to === to)) return to;
  throw new Error(`no move leads from ${from} to ${to}`);
}
