type Fields = Record<string, unknown>;

/** A word or a segment as a speech server gives it: its text with its blanks, and the times that it has. */
export type GivenPart = {
  text: string;
  startSeconds: number | null;
  endSeconds: number | null;
  confidence: number | null;
};

/**
 * What a speech server answers. `segments` and each list of `words` are as it gives them, in its order.
 * @property words  lists of the words of all of the text: servers give them in one list, in their segments, or in both
 */
export type GivenAnswer = { text: string | null; language: unknown; segments: GivenPart[]; words: GivenPart[][] };

/** No piece is as many seconds long: these are nanoseconds. */
const NANOSECONDS_FROM = 1e6;

/**
 * The parts of a response body in any of these dialects; null for another body, such as an error with status 200:
 * - OpenAI, speaches, coro: `segments[]` and `words[]` beside each other, a word as `word`;
 * - vLLM, faster-whisper-server: `segments[]` alone;
 * - whisper.cpp: `segments[].words[]`, which are tokens; without `start` and `end` where times are off;
 * - LocalAI: `words[]` and `segments[].words[]`, a word as `text`; in nanoseconds before it had words;
 * - servers around whisperX: `segments[].words[]` and `word_segments[]` with `score`, and no times for numbers.
 * @param pieceSeconds  times behind the end of the piece are none
 */
export function readAnswerParts(body: string, pieceSeconds: number): GivenAnswer | null {
  const answer = parseObject(body);
  if (answer === null || answer['error']) return null;
  const segments = entries(answer['segments']);
  const text = answer['text'] ?? (segments.length > 0 ? null : undefined);
  if (typeof text !== 'string' && text !== null) return null;
  const inSegments = segments.flatMap((segment) => entries(segment['words']));
  const lists = [inSegments, entries(answer['words']), entries(answer['word_segments'])];
  const unit = unitOf([...segments, ...lists.flat()]);
  const read = (entry: Fields) => readPart(entry, { unit, pieceSeconds });
  return {
    text,
    language: answer['language'],
    segments: segments.map(read),
    words: lists.map((list) => list.map(read)),
  };
}

function parseObject(body: string): Fields | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return parsePython(body);
  }
}

/** Python writes NaN and Infinity, which JSON does not have, where a model gave no number. */
function parsePython(body: string): Fields | null {
  const cleaned = body.replace(/"[^"\\]*(?:\\.[^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/gs, (part) =>
    part.startsWith('"') ? part : 'null',
  );
  return cleaned === body ? null : parseObject(cleaned);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entries(list: unknown): Fields[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Seconds in one unit of the times: 1, or that of Go's durations where most times are as large. */
function unitOf(parts: Fields[]): number {
  const times = parts.flatMap(({ start, end }) => [start, end]).filter((time) => typeof time === 'number' && time > 0);
  const large = times.filter((time) => (time as number) >= NANOSECONDS_FROM);
  return large.length > times.length / 2 ? 1e-9 : 1;
}

function readPart(entry: Fields, { unit, pieceSeconds }: { unit: number; pieceSeconds: number }): GivenPart {
  const text = entry['word'] ?? entry['text'];
  return {
    text: typeof text === 'string' ? text : '',
    ...readTimes(secondsOf(entry['start'], unit), secondsOf(entry['end'], unit), pieceSeconds),
    confidence: confidenceOf(entry),
  };
}

/** Times inside the piece. whisper.cpp gives a token without a time -0.01. */
function readTimes(start: number | null, end: number | null, pieceSeconds: number) {
  const isBefore = end !== null && end < 0;
  const startSeconds = isBefore || start === null || start > pieceSeconds ? null : Math.max(0, start);
  const isReversed = end !== null && startSeconds !== null && end < startSeconds;
  const endSeconds = isBefore || isReversed || end === null ? null : Math.min(pieceSeconds, end);
  return { startSeconds, endSeconds };
}

function secondsOf(time: unknown, unit: number): number | null {
  const value = typeof time === 'string' && time.trim() !== '' ? Number(time) : time;
  return Number.isFinite(value) ? (value as number) * unit : null;
}

/** `probability` of faster-whisper's and whisper.cpp's words, `score` of whisperX's, `avg_logprob` of segments. */
function confidenceOf(entry: Fields): number | null {
  const probability = entry['probability'] ?? entry['score'];
  if (typeof probability === 'number') return probability >= 0 && probability <= 1 ? probability : null;
  const log = entry['avg_logprob'];
  return typeof log === 'number' && log <= 0 ? Math.round(Math.exp(log) * 1000) / 1000 : null;
}
