import type { Segment, Transcript, Word } from '../engine.ts';

type Fields = Record<string, unknown>;

/**
 * The transcript in the body of a speech server's response, which may have words, segments or only text. Times are
 * clamped to the piece and sorted. Null for other bodies, such as an error with status 200.
 */
export function readOpenaiAnswer(body: string, pieceSeconds: number): Transcript | null {
  const answer = parseObject(body);
  if (answer === null || typeof answer['text'] !== 'string' || answer['error']) return null;
  const language = languageCode(answer['language']);
  const text = answer['text'].trim();
  if (text === '') return { segments: [], language };
  const words = entries(answer['words']).flatMap((entry) => readWord(entry, pieceSeconds));
  const segments = entries(answer['segments']).flatMap((entry) => readSegment(entry, pieceSeconds));
  const whole: Segment = { text, startSeconds: 0, endSeconds: pieceSeconds, confidence: null, words: [] };
  return { segments: assignWords(segments.length > 0 ? segments : [whole], words), language };
}

function parseObject(body: string): Fields | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entries(list: unknown): Fields[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function readWord(entry: Fields, pieceSeconds: number): Word[] {
  // A blank before it shows where a word begins.
  const text = typeof entry['word'] === 'string' ? entry['word'] : '';
  const times = readTimes(entry, pieceSeconds);
  if (text.trim() === '' || times === null) return [];
  const { probability } = entry;
  const isKnown = typeof probability === 'number' && probability >= 0 && probability <= 1;
  return [{ text, ...times, confidence: isKnown ? probability : null }];
}

function readSegment(entry: Fields, pieceSeconds: number): Segment[] {
  const text = typeof entry['text'] === 'string' ? entry['text'].trim() : '';
  const times = readTimes(entry, pieceSeconds);
  if (text === '' || times === null) return [];
  const log = entry['avg_logprob'];
  const confidence = typeof log === 'number' && log <= 0 ? Math.round(Math.exp(log) * 1000) / 1000 : null;
  return [{ text, ...times, confidence, words: [] }];
}

function readTimes({ start, end }: Fields, pieceSeconds: number) {
  if (!Number.isFinite(start) || !Number.isFinite(end)) return null;
  const startSeconds = Math.min(pieceSeconds, Math.max(0, start as number));
  return { startSeconds, endSeconds: Math.min(pieceSeconds, Math.max(startSeconds, end as number)) };
}

/** Adds each word to the last segment that starts no later than the word. */
function assignWords(segments: Segment[], words: Word[]): Segment[] {
  const ordered = segments.toSorted((one, other) => one.startSeconds - other.startSeconds);
  for (const word of words.toSorted((one, other) => one.startSeconds - other.startSeconds)) {
    const segment = ordered.findLast((one) => one.startSeconds <= word.startSeconds) ?? ordered[0]!;
    segment.words.push(word);
  }
  return ordered;
}

let codesByName: Map<string, string> | null = null;

/** OpenAI answers with the English name of the language (`english`), other servers with its code. */
function languageCode(language: unknown): string | null {
  if (typeof language !== 'string') return null;
  if (/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  codesByName ??= readCodesByName();
  return codesByName.get(language.toLowerCase()) ?? null;
}

/** Two-letter codes by the English name of the language. Read at first use: Node's table of names takes 4 MB. */
function readCodesByName(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const names = new Intl.DisplayNames('en', { type: 'language' });
  // Some languages have two codes: the first one counts.
  return new Map(codes.toReversed().map((code) => [names.of(code)!.toLowerCase(), code]));
}
