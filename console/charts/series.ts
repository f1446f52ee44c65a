/**
 * Values over time: the first column has seconds since the epoch, each other one a value per time;
 * null where there is none.
 */
export type Series = { names: string[]; columns: (number | null)[][] };

/** Each column plus those before it, for areas that stand on each other. */
export function stacked({ names, columns: [seconds = [], ...values] }: Series): Series {
  const sums: number[][] = [];
  for (const column of values) {
    const below = sums.at(-1);
    sums.push(column.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return { names, columns: [seconds, ...sums] };
}
