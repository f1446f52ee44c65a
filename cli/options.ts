import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { CommandError, UsageError } from './exit.ts';

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An option's value as a number. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

/** An option's value as a whole number, 0 or more. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** A time in ISO 8601: from such a time, a date, or how long ago it was: `90s`, `15m`, `1h`, `7d`. */
export function time(text: string): string {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNIT_MS[unit!]!;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('It must be a time such as 2026-11-21T09:30:00Z, 2026-11-21 or 1h.');
  return new Date(ms).toISOString();
}

/** A length of time in seconds: `90s`, `15m`, `1h`, `7d`, or a number of seconds. */
export function seconds(text: string): number {
  const [, count, unit] = /^(\d{1,9}(?:\.\d{1,3})?)([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be a length of time such as 90s, 15m, 1h or 7d.');
  return (Number(count) * UNIT_MS[unit || 's']!) / 1_000;
}

/** An option that may be repeated: its values so far and one more. */
export function repeated(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Comma-separated words as a list. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** An option of the form `key=value`, which may be repeated. */
export function keyValue(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form key=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/**
 * The text of a file that an option names.
 * @throws CommandError
 */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${(cause as Error).message}`, undefined, { cause });
  }
}

/**
 * A value in JSON.
 * @param what  names it in the error
 * @throws UsageError
 */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${what} must be JSON: ${(cause as Error).message}`, { cause });
  }
}
