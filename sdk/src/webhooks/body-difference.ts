import type { Body } from './signature.ts';

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
  const [left, right] = [Buffer.from(sent as string), Buffer.from(received as string)];
  if (left.equals(right)) return null;
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at++;
  const around = (bytes: Buffer) => shown(bytes.subarray(Math.max(0, at - AROUND_BYTES), at + AROUND_BYTES));
  return { at, sent: around(left), received: around(right), sentBytes: left.length, receivedBytes: right.length };
}

/** How a received body that fits no guess differs from the sent one. */
export function classifyDifference(
  sent: Body,
  received: Body,
): 'body_truncated' | 'body_parsed' | 'body_whitespace' | 'body_changed_at' {
  const [left, right] = [Buffer.from(sent as string), Buffer.from(received as string)];
  if (right.length < left.length && left.subarray(0, right.length).equals(right)) return 'body_truncated';
  const [sentText, receivedText] = [left.toString('utf8'), right.toString('utf8')];
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

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('utf8')).slice(1, -1);
}
