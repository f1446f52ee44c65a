import { toBytes, toText } from './crypto/bytes.ts';
import type { Body } from './verification.ts';

/** Where a received body begins to differ from the sent one. */
export type BodyDifference = {
  /** Position of the first byte that differs. */
  at: number;
  /** Up to 20 bytes on each side of it as text, control characters as escapes. */
  sent: string;
  received: string;
  sentBytes: number;
  receivedBytes: number;
};

const AROUND_BYTES = 20;

/** Null when both are the same bytes. */
export function findDifference(sent: Body, received: Body): BodyDifference | null {
  const [left, right] = [toBytes(sent), toBytes(received)];
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at++;
  if (at === left.length && at === right.length) return null;
  const around = (bytes: Uint8Array) => shown(bytes.subarray(Math.max(0, at - AROUND_BYTES), at + AROUND_BYTES));
  return { at, sent: around(left), received: around(right), sentBytes: left.length, receivedBytes: right.length };
}

/** How a received body that fits no guess differs from the sent one. */
export function classifyDifference(
  sent: Body,
  received: Body,
): 'body_truncated' | 'body_parsed' | 'body_whitespace' | 'body_changed_at' {
  const [left, right] = [toBytes(sent), toBytes(received)];
  if (right.length < left.length && right.every((byte, at) => byte === left[at])) return 'body_truncated';
  const [sentText, receivedText] = [toText(left), toText(right)];
  if (withoutSpace(sentText) === withoutSpace(receivedText)) return 'body_whitespace';
  // Also when numbers lost digits: both are then read as the same number.
  return canonical(sentText) === canonical(receivedText) ? 'body_parsed' : 'body_changed_at';
}

function withoutSpace(text: string): string {
  return text.replace(/[\s\ufeff]+/g, '');
}

/** The same text for the same JSON value, however it is written. */
function canonical(text: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(text)));
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function shown(bytes: Uint8Array): string {
  return JSON.stringify(toText(bytes)).slice(1, -1);
}
