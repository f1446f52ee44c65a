import { isTerminal, JOB_MOVES } from '../../../src/rules/jobs/job-state.ts';
import type { Change } from '../schema.ts';
import type { Run } from './run.ts';

// Three attempts, and claims that find no attempt left: two of them may freeze or crash before the job has ended.
const MOST_ATTEMPTS = 6;
const MAX_ATTEMPTS = 3;

/** Accepted jobs end once, under the lease of their worker, with exactly one event in the same transaction. */
export function checkJobs(run: Run, report: (text: string) => void): void {
  const jobs = Map.groupBy(
    run.changes.filter(({ what }) => what === 'job'),
    ({ before, after }) => (before ?? after).id as string,
  );
  const events = Map.groupBy(
    run.changes.filter(({ what }) => what === 'event'),
    ({ after }) => after.job_id as string,
  );
  for (const id of run.memory.accepted) if (!jobs.has(id)) report(`jobs: ${id} was accepted and is lost`);
  for (const [id, changes] of jobs) {
    const ends = changes.filter(
      ({ before, after }) => after && before && !isTerminal(before.state) && isTerminal(after.state),
    );
    const isGone = changes.at(-1)!.after === null;
    if (isGone && !run.memory.deleted.has(id)) report(`jobs: ${id} is gone, and nobody deleted it`);
    if (ends.length !== 1) report(`jobs: ${id} ended ${ends.length} times`);
    checkMoves(id, changes, run, report);
    const [end] = ends;
    if (end) checkFault(id, end, report);
    if (end) checkEvents(id, end, events.get(id) ?? [], report);
  }
}

function checkMoves(
  id: string,
  changes: Change[],
  { calls, endedAtMs, isFaultless }: Run,
  report: (text: string) => void,
): void {
  let claim: Change | null = null;
  let hasWaited = false;
  for (const change of changes) {
    const { before, after, atMs, slot } = change;
    if (!before || !after) continue;
    const isLegal =
      before.state === after.state || JOB_MOVES.some(({ from, to }) => from === before.state && to === after.state);
    if (!isLegal) report(`jobs: ${id} went from ${before.state} to ${after.state}`);
    if (after.lease !== before.lease) {
      // A live session follows its client to another process.
      const isTakenOver = after.is_live && slot.startsWith('live');
      if (!isTakenOver && before.state !== 'queued') report(`jobs: ${id} was claimed while it was ${before.state}`);
      if (!isTakenOver && Date.parse(before.next_at) > atMs) report(`jobs: ${id} was claimed before it was due`);
      if (!(Date.parse(after.next_at) > atMs)) report(`jobs: ${id} was claimed without a lease`);
      if (after.attempts > MOST_ATTEMPTS || (isFaultless && !after.is_live && after.attempts > 1)) {
        report(`jobs: ${id} was begun ${after.attempts} times`);
      }
      claim = change;
    } else if (before.state === 'processing' && after.state === 'queued') {
      const isHandedBack = slot === claim?.slot && after.attempts === before.attempts - 1;
      hasWaited ||= isHandedBack;
      const hasHolderEnded = slot === 'parent' && endedAtMs.get(before.holder)! <= atMs;
      if (!isHandedBack && !hasHolderEnded && Date.parse(before.next_at) > atMs)
        report(`jobs: ${id} was taken from ${before.holder} by ${slot} while it was held`);
    } else if (after.state === 'processing' && after.next_at !== before.next_at) {
      if (!(Date.parse(after.next_at) > atMs)) report(`jobs: ${id} was renewed without a lease`);
    } else if (['completed', 'failed'].includes(after.state) && before.state === 'processing') {
      if (slot !== claim?.slot) report(`jobs: ${id} was ended by ${slot}, while ${claim?.slot} held it`);
      const caller = calls[Number(/call (\d+)/.exec(after.transcript ?? '')?.[1])];
      // A live session has segments of all processes that have had it, and so has a job that waited for an engine.
      if (!after.is_live && !hasWaited && caller && caller.slot !== claim?.slot)
        report(`jobs: ${id} has the transcript of ${caller.slot}`);
    }
  }
}

/** The engines fail no piece three times while they work: only a job that was begun three times may fail by them. */
function checkFault(id: string, { after }: Change, report: (text: string) => void): void {
  const isByEngine = ['engine_error', 'engine_timeout'].includes(after.error_type);
  if (isByEngine && after.attempts <= MAX_ATTEMPTS)
    report(`jobs: ${id} failed although an engine could do it: ${after.error_message}`);
}

function checkEvents(id: string, end: Change, events: Change[], report: (text: string) => void): void {
  const state = end.after.state as string;
  const expected = state === 'canceled' ? [] : [`transcription.${state}`];
  const types = events.map(({ after }) => after.type as string);
  if (types.join() !== expected.join()) report(`events: ${id} is ${state} and has [${types.join()}]`);
  for (const event of events) {
    if (event.transaction !== end.transaction) report(`events: ${id} ended in another transaction than its event's`);
  }
}
