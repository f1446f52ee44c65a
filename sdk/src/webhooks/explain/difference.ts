import { toBytes, toText } from '../crypto/bytes.ts';
import type { Body } from '../verification.ts';

/** How a received body differs from the sent one. */
export type DifferenceKind =
  | 'whitespace'
  | 'bom'
  | 'charset'
  | 'reordered'
  | 'escaped'
  | 'number_precision'
  | 'truncated'
  | 'changed';

/** Where a received body begins to differ from the sent one. */
export type BodyDifference = {
  /** Position of the first byte that differs. */
  at: number;
  /** Up to 20 bytes on each side of it as text, control characters as escapes. */
  sent: string;
  received: string;
  sentBytes: number;
  receivedBytes: number;
  /**
   * `bom`: a byte order mark before it. `charset`: only characters that are not ASCII differ, or are gone.
   * `reordered`, `escaped`, `number_precision`: the same JSON, with keys in another order, other escapes, or numbers
   * that lost digits.
   */
  kind: DifferenceKind;
};

type BodyCause = 'body_truncated' | 'body_parsed' | 'body_whitespace' | 'body_bom' | 'body_charset' | 'body_changed_at';

const CAUSES: Partial<Record<DifferenceKind, BodyCause>> = {
  truncated: 'body_truncated',
  whitespace: 'body_whitespace',
  bom: 'body_bom',
  charset: 'body_charset',
  changed: 'body_changed_at',
};
const AROUND_BYTES = 20;

/** Null when both are the same bytes. */
export function findDifference(sent: Body, received: Body): BodyDifference | null {
  const [left, right] = [toBytes(sent), toBytes(received)];
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at++;
  if (at === left.length && at === right.length) return null;
  const around = (bytes: Uint8Array) => shown(bytes.subarray(Math.max(0, at - AROUND_BYTES), at + AROUND_BYTES));
  return {
    at,
    sent: around(left),
    received: around(right),
    sentBytes: left.length,
    receivedBytes: right.length,
    kind: at === right.length ? 'truncated' : kindOf(toText(left), toText(right)),
  };
}

/** The cause of a difference. */
export function causeOfDifference(kind: DifferenceKind): BodyCause {
  return CAUSES[kind] ?? 'body_parsed';
}

function kindOf(sent: string, received: string): DifferenceKind {
  if (`\ufeff${sent}` === received) return 'bom';
  if (withoutSpace(sent) === withoutSpace(received)) return 'whitespace';
  if (asciiOf(sent) === asciiOf(received)) return 'charset';
  const [left, right] = [parse(sent), parse(received)];
  // Numbers that lost digits are read as the same number.
  if (left === undefined || JSON.stringify(sorted(left)) !== JSON.stringify(sorted(right))) return 'changed';
  if (JSON.stringify(left) !== JSON.stringify(right)) return 'reordered';
  return digitsOf(sent) === digitsOf(received) ? 'escaped' : 'number_precision';
}

/** The text without all that a conversion to ASCII loses, and without what stands in its place then. */
function asciiOf(text: string): string {
  return text.replace(/[^\0-\x7f]|\?/g, '');
}

function withoutSpace(text: string): string {
  return text.replace(/[\s\ufeff]+/g, '');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** The numbers in a JSON text, as they are written. */
function digitsOf(json: string): string {
  return (json.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []).join(' ');
}

function shown(bytes: Uint8Array): string {
  return JSON.stringify(toText(bytes)).slice(1, -1);
}
