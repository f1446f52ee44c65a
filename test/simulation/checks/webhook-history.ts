import type { ClockStep } from '../environment.ts';
import type { Change } from '../schema.ts';
import type { Run } from './run.ts';

// A transaction may have read a webhook this long before its commit.
const SLACK_MS = 25_000;

/** Database times in ms: when a statement began, and when it wrote its row, which is later if it waited for a lock. */
type Span = { fromMs: number; toMs: number };

/** Whether webhooks were active or inactive during the whole time around a statement; neither if they changed in it. */
export function historyOfWebhooks({ changes, clockSteps }: Pick<Run, 'changes' | 'clockSteps'>) {
  const trueMs = trueTimes(clockSteps);
  const byId = Map.groupBy(
    changes.filter(({ what }) => what === 'webhook'),
    ({ before, after }) => (before ?? after).id as string,
  );
  function wasAlways(id: string, { fromMs, toMs }: Span, isOn: boolean): boolean {
    const [earliestMs, latestMs] = [trueMs(fromMs) - SLACK_MS, trueMs(toMs) + SLACK_MS];
    const steps = (byId.get(id) ?? []).map((step) => ({ ...step, atMs: trueMs(step.atMs) }));
    const earlier = steps.filter(({ atMs }) => atMs < earliestMs).at(-1);
    const around = steps.filter(({ atMs }) => atMs >= earliestMs && atMs <= latestMs);
    return [earlier, ...around].every((step) => (step?.after?.active ?? false) === isOn);
  }
  return {
    all: () =>
      [...byId].map(([id, [first]]) => ({ id, accountId: (first!.before ?? first!.after).account_id as string })),
    /** Whether it was active from a time on until a change was made. */
    wasActive(id: string, fromMs: number, { number }: Change): boolean {
      const steps = (byId.get(id) ?? []).filter((step) => step.number < number);
      const atStart = steps.findLast((step) => step.atMs <= fromMs);
      return [atStart, ...steps.filter((step) => step.atMs > fromMs)].every((step) => step?.after?.active ?? false);
    },
    isOn: (id: string, span: Span) => wasAlways(id, span, true),
    isOff: (id: string, span: Span) => wasAlways(id, span, false),
  };
}

/** The true time at which the database's clock showed a time; for a time that a step left out, that of the step. */
function trueTimes(steps: ClockStep[]): (databaseMs: number) => number {
  return (databaseMs) => steps.reduce((ms, { atMs, byMs }) => (ms < atMs ? ms : Math.max(atMs, ms - byMs)), databaseMs);
}
