import { credits } from '../text/format.ts';

// An amount of credits in as many digits as a person reads; the exact one on hover.
//
//   <Credits of={job.cost} />               3.28, with the title 3.28417
//   <Credits of={entry.amount} isSigned />  +3.28, −3.28

/** @param of  credits; null: a dash */
export function Credits({ of, isSigned = false }: { of: number | null; isSigned?: boolean }) {
  if (of === null) return <>–</>;
  return <span title={String(of)}>{isSigned && of > 0 ? `+${credits(of)}` : credits(of)}</span>;
}
