import type { Change } from '../schema.ts';

// A transaction may have read a webhook this long before its commit.
const SLACK_MS = 25_000;

/** Database times in ms: when a statement began, and when it wrote its row, which is later if it waited for a lock. */
type Span = { fromMs: number; toMs: number };

/** Whether webhooks were active or inactive during the whole time around a statement; neither if they changed in it. */
export function historyOfWebhooks(changes: Change[]) {
  const byId = Map.groupBy(
    changes.filter(({ what }) => what === 'webhook'),
    ({ before, after }) => (before ?? after).id as string,
  );
  function wasAlways(id: string, { fromMs, toMs }: Span, isOn: boolean): boolean {
    const steps = byId.get(id) ?? [];
    const earlier = steps.filter((step) => step.atMs < fromMs - SLACK_MS).at(-1);
    const around = steps.filter((step) => step.atMs >= fromMs - SLACK_MS && step.atMs <= toMs + SLACK_MS);
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
