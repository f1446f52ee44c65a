/** Minimum, median, 99th percentile and maximum of some numbers, rounded for print. */
export function spread(values: number[]): { min: number; p50: number; p99: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!);
  return { min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One line of a figure, with the goal beside it. */
export function report(figure: string, measured: string, goal: string): void {
  console.log(`${figure.padEnd(62)} ${measured.padEnd(34)} goal ${goal}`);
}

/** The time in ms on a clock that all processes of this machine share and that is never set. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
