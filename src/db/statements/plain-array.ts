/**
 * PostgreSQL array literal of values that need no quotes: ids, reasons, numbers and booleans. The pg package checks
 * every character of every value instead, which took a tenth of the deliverer's time.
 */
export function plainArray(values: (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
