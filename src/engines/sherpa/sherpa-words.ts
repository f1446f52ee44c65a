import { NO_SPACES } from '../../rules/text/scripts.ts';
import type { Transcript, Word } from '../engine.ts';
import { meanConfidence, segmentWords } from '../segments.ts';

/** A result of sherpa-onnx; which fields it has depends on the model. */
export type SherpaResult = {
  text: string;
  lang?: string;
  tokens?: string[];
  /** Seconds at which each token begins. */
  timestamps?: number[];
  durations?: number[];
  /** Natural logarithm of each token's probability. */
  ys_log_probs?: number[];
};

// The longest assumed duration of a token without one: that of a syllable.
const TOKEN_MAX_SECONDS = 0.24;
const WHISPER_TOKENS_PER_SECOND = 6;
const WHISPER_TOKENS_PER_PIECE = 224;
const WORD_MARK = '▁';
const CONTINUES = '@@';

/** The transcript of a result: with words when the model gives times, else one segment over the whole piece. */
export function readSherpaResult(result: SherpaResult, pieceSeconds: number): Transcript {
  const language = languageTag(/^(?:<\|)?([a-z]{2,3})(?:\|>)?$/.exec(result.lang ?? '')?.[1] ?? null);
  const words = mergeTokens(readTokens(result, pieceSeconds));
  const text = result.text.trim();
  if (words.length > 0) return { segments: segmentWords(text, words), language };
  const whole = { text, startSeconds: 0, endSeconds: pieceSeconds, confidence: null, words: [] };
  return { segments: text === '' ? [] : [whole], language };
}

/** Whether Whisper reached its limit of six tokens per second or 224 per piece, where it stops without an error. */
export function mayBeCut({ tokens = [] }: SherpaResult, pieceSeconds: number): boolean {
  const mostTokens = Math.min(Math.floor(pieceSeconds * WHISPER_TOKENS_PER_SECOND), WHISPER_TOKENS_PER_PIECE);
  return tokens.length > 0 && tokens.length >= mostTokens;
}

/** The canonical BCP 47 code: `jv` for a model's `jw`. */
function languageTag(code: string | null): string | null {
  return code === null ? null : (Intl.getCanonicalLocales(code)[0] ?? null);
}

type Token = { text: string; startSeconds: number; endSeconds: number; confidence: number | null };

function readTokens(
  { tokens = [], timestamps = [], durations = [], ys_log_probs: logs = [] }: SherpaResult,
  limit: number,
) {
  if (timestamps.length !== tokens.length) return [];
  const bounded = (seconds: number) => rounded(Math.min(limit, Math.max(0, seconds)));
  return tokens.map((text, index): Token => {
    const start = timestamps[index]!;
    const next = timestamps[index + 1] ?? Number.POSITIVE_INFINITY;
    const end = start + (durations[index] ?? Math.min(next - start, TOKEN_MAX_SECONDS));
    const log = logs.length === tokens.length ? logs[index]! : null;
    return {
      text: text.replaceAll(WORD_MARK, ' '),
      startSeconds: bounded(start),
      endSeconds: bounded(Math.max(start, end)),
      confidence: log === null ? null : Math.exp(log),
    };
  });
}

/** A word starts at a token with a leading space, and at each token of a script without spaces. */
function mergeTokens(tokens: Token[]): Word[] {
  const groups: Token[][] = [];
  let startsWord = true;
  for (const token of tokens) {
    if (/^<.*>$/.test(token.text.trim())) continue;
    if (token.text.startsWith(' ') || isWholeWord(token.text)) startsWord = true;
    const text = token.text.trim();
    // A token may consist of a space alone.
    if (text === '') continue;
    if (startsWord && !isPunctuation(text)) groups.push([{ ...token, text }]);
    else groups.at(-1)?.push({ ...token, text });
    startsWord = isWholeWord(token.text);
  }
  return groups.map(wordOf);
}

function wordOf(tokens: Token[]): Word {
  const spoken = tokens.filter((token) => !isPunctuation(token.text));
  return {
    text: tokens.map(({ text }) => (text.endsWith(CONTINUES) ? text.slice(0, -CONTINUES.length) : text)).join(''),
    startSeconds: tokens[0]!.startSeconds,
    endSeconds: (spoken.at(-1) ?? tokens[0]!).endSeconds,
    confidence: meanConfidence(spoken.map((token) => token.confidence)),
  };
}

function isWholeWord(text: string): boolean {
  return NO_SPACES.test(text.trimStart().slice(0, 2));
}

function isPunctuation(text: string): boolean {
  return /^[\p{P}\p{S}]+$/u.test(text) && text !== "'" && text !== '&';
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
