import { ApiError } from '../http/api-error.ts';

/**
 * The fields of a request by name, each as the text that a form carries: `true`, `7`, JSON. Repeated fields are in
 * `lists`, in order. A JSON body is read by converting its values to this.
 */
export type RequestFields = { fields: ReadonlyMap<string, string>; lists: ReadonlyMap<string, readonly string[]> };

type Fields = RequestFields['fields'];

/** The maximum size of a field with a word or a number, in bytes of UTF-8. */
export const WORD_BYTES = 1024;

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
  // As Python writes them.
  ['True', true],
  ['False', false],
]);

const DECIMAL = /^\d{1,9}(\.\d{1,6})?$/;

/** False when the field is absent. @throws ApiError  400 */
export function readBoolean(fields: Fields, name: string): boolean {
  const given = fields.get(name);
  if (given === undefined) return false;
  const value = BOOLEANS.get(given);
  if (value === undefined) throw refusal(name, `${name} must be true, false, 1 or 0.`);
  return value;
}

/** Null when the field is absent. @throws ApiError  400 */
export function readChoice<Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]) {
  const given = fields.get(name);
  if (given === undefined) return null;
  const choice = choices.find((known) => known === given);
  if (choice === undefined) throw refusal(name, `${name} must be one of ${choices.join(', ')}.`);
  return choice;
}

/** Null when the field is absent. @throws ApiError  400 */
export function readNumber(
  fields: Fields,
  name: string,
  { min, max, isWhole = false }: { min: number; max: number; isWhole?: boolean },
): number | null {
  const given = fields.get(name);
  if (given === undefined) return null;
  const value = DECIMAL.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw refusal(name, `${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`);
}

/** The error for a field that is not valid. */
export function refusal(param: string, message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', message, { param, cause });
}
