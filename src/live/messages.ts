import type { LivePartial } from '../engines/live/live-engine.ts';
import type { LiveSegment } from '../jobs/live/live-segment.ts';
import { joinWords } from '../rules/text/word-places.ts';

/** What a client of the service's own wire sends as text. */
export type ClientMessage =
  | { type: 'finalize'; id: string | null }
  | { type: 'gap'; to: number }
  | { type: 'finish' | 'cancel' | 'keepalive' };

/** A message that is not understood, and the field at fault. */
export type BadMessage = { message: string; param: string | null };

const TYPES = ['finalize', 'gap', 'finish', 'cancel', 'keepalive'] as const;
const FIELDS: Record<string, readonly string[]> = { finalize: ['id'], gap: ['to'] };
const MAX_TEXT_BYTES = 16_384;
const MAX_ID_CHARS = 200;

/** Reads a text frame of a client. */
export function readMessage(text: string): { ok: ClientMessage } | { bad: BadMessage } {
  const bad = (param: string | null, message: string) => ({ bad: { param, message } });
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) return bad(null, `A text frame has at most ${MAX_TEXT_BYTES} bytes.`);
  const given = parseObject(text);
  if (given === null) return bad(null, 'A text frame must be a JSON object; audio is sent in binary frames.');
  const type = TYPES.find((known) => known === given['type']);
  if (type === undefined) return bad('type', `type must be one of ${TYPES.join(', ')}.`);
  const unknown = Object.keys(given).find((name) => name !== 'type' && !FIELDS[type]?.includes(name));
  if (unknown !== undefined) return bad(unknown, `A message of type ${type} has no field ${unknown.slice(0, 100)}.`);
  if (type === 'gap') {
    const { to } = given;
    if (typeof to === 'number' && Number.isSafeInteger(to) && to >= 0) return { ok: { type, to } };
    return bad('to', 'to must be an offset in bytes: a whole number from 0.');
  }
  if (type !== 'finalize') return { ok: { type } };
  const { id = null } = given;
  if (id === null || (typeof id === 'string' && id.length <= MAX_ID_CHARS)) return { ok: { type, id } };
  return bad('id', `id must be a string of at most ${MAX_ID_CHARS} characters.`);
}

/** The JSON object of a text frame; null where it is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** A final segment as its client gets it, the same each time. @param wordTimes  whether the client asked for words */
export function segmentMessage(segment: LiveSegment, wordTimes: boolean) {
  const { number, startSeconds, endSeconds, text, confidence, reason, words } = segment;
  return {
    type: 'segment',
    seq: number,
    index: number - 1,
    start: rounded(startSeconds),
    end: rounded(endSeconds),
    text,
    confidence,
    reason,
    ...(wordTimes && {
      words: words.map((word) => ({
        start: rounded(word.startSeconds),
        end: rounded(word.endSeconds),
        text: word.text,
        confidence: word.confidence,
        ...(word.estimated && { estimated: word.estimated }),
      })),
    }),
  };
}

/** The words of an open segment; `stable` is the number of characters that do not change any more. */
export function partialMessage({
  words,
  stableWords,
  index,
  startSeconds,
}: LivePartial & { index: number; startSeconds: number }) {
  const end = startSeconds + (words.at(-1)?.endSeconds ?? 0);
  const stable = joinWords(words.slice(0, stableWords)).length;
  return { type: 'partial', index, start: rounded(startSeconds), end: rounded(end), text: joinWords(words), stable };
}

export function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
