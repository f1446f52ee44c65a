import type { Turn } from './turn.ts';

/** A word, or a segment without words, with its times in seconds from the start of the audio. */
export type Spoken = {
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** Stands for a whole segment, whose engine gives no words. */
  isSegment?: boolean;
};

// Engines may give the last word before a pause the time of the pause as well.
const WORD_MAX_SECONDS = 1;
// A word in no turn belongs to a turn that begins or ends within this time, before it belongs to its neighbours.
const NEAR_SECONDS = 1;
// The times of words and turns are exact to a fraction of a word. So a few words alone between words of another voice
// are that voice's, and a change of voice lies at a nearby pause or end of a sentence.
const ISLAND = { words: 2, seconds: 0.6 };
const SHIFT = { words: 2, seconds: 0.3 };
const PAUSE_SECONDS = 0.3;
const SENTENCE_END = /[.?!…。？！]["'”’»)\]]*$/u;

/**
 * The voice of each word; null for all words when there are no turns.
 * @param words  in the order of their starts
 * @param turns  in the order of their starts
 * Source: docs/decisions/0011-whose-words.md
 */
export function assignVoices(words: readonly Spoken[], turns: readonly Turn[]): (number | null)[] {
  if (turns.length === 0) return words.map(() => null);
  const voices = fillGaps(words, byOverlap(words, turns), turns);
  flipIslands(words, voices);
  moveChanges(words, voices);
  return voices;
}

/**
 * The voice with the most speech during each word, in a tie the voice of the word before; null for words in no turn.
 */
function byOverlap(words: readonly Spoken[], turns: readonly Turn[]): (number | null)[] {
  const voices: (number | null)[] = [];
  const search = new TurnSearch(turns);
  for (const word of words) {
    const { startSeconds, endSeconds } = cappedWord(word);
    const overlaps = new Map<number, number>();
    for (const turn of search.between(startSeconds, endSeconds)) {
      const seconds = Math.min(endSeconds, turn.endSeconds) - Math.max(startSeconds, turn.startSeconds);
      if (seconds > 0) overlaps.set(turn.voice, (overlaps.get(turn.voice) ?? 0) + seconds);
    }
    const most = Math.max(...overlaps.values());
    const tied = [...overlaps].filter(([, seconds]) => seconds === most).map(([voice]) => voice);
    const before = voices.at(-1) ?? null;
    voices.push(before !== null && tied.includes(before) ? before : (tied[0] ?? null));
  }
  return voices;
}

function cappedWord({ startSeconds, endSeconds, isSegment = false }: Spoken) {
  return { startSeconds, endSeconds: isSegment ? endSeconds : Math.min(endSeconds, startSeconds + WORD_MAX_SECONDS) };
}

/** Words in no turn: the turn with the nearest edge, else the word before, else the next word that has a voice. */
function fillGaps(words: readonly Spoken[], known: (number | null)[], turns: readonly Turn[]): number[] {
  const search = new TurnSearch(turns);
  const near = known.map((voice, at) => voice ?? nearestVoice(cappedWord(words[at]!), search));
  const first = near.find((voice) => voice !== null) ?? turns[0]!.voice;
  let before = first;
  return near.map((voice) => {
    before = voice ?? before;
    return before;
  });
}

function nearestVoice({ startSeconds, endSeconds }: Pick<Turn, 'startSeconds' | 'endSeconds'>, search: TurnSearch) {
  let nearest: { voice: number | null; seconds: number } = { voice: null, seconds: NEAR_SECONDS };
  for (const turn of search.between(startSeconds - NEAR_SECONDS, endSeconds + NEAR_SECONDS)) {
    const seconds = Math.max(turn.startSeconds - endSeconds, startSeconds - turn.endSeconds, 0);
    if (seconds <= NEAR_SECONDS && (nearest.voice === null || seconds < nearest.seconds)) {
      nearest = { voice: turn.voice, seconds };
    }
  }
  return nearest.voice;
}

/**
 * Gives a few words between words of another voice to that voice, unless a pause or a sentence's end is on both sides.
 */
function flipIslands(words: readonly Spoken[], voices: number[]): void {
  for (const { from, end } of runsOf(voices)) {
    const around = voices[from - 1];
    if (around === undefined || voices[end] !== around || end - from > ISLAND.words) continue;
    const seconds = words[end - 1]!.endSeconds - words[from]!.startSeconds;
    const isApart = isBreak(words, from) && isBreak(words, end);
    if (seconds < ISLAND.seconds && !isApart && !hasSegment(words, from, end)) voices.fill(around, from, end);
  }
}

/**
 * Moves each change of voice to a pause or a sentence's end within a few words, but never over a whole run of words.
 */
function moveChanges(words: readonly Spoken[], voices: number[]): void {
  for (let change = 1; change < words.length; change++) {
    if (voices[change] === voices[change - 1] || isBreak(words, change)) continue;
    for (let count = 1; count <= SHIFT.words; count++) {
      if (moveForward(words, voices, change, count) || moveBack(words, voices, change, count)) break;
    }
  }
}

/** The first `count` words after the change become the earlier voice's. */
function moveForward(words: readonly Spoken[], voices: number[], change: number, count: number): boolean {
  const place = change + count;
  const isInRun = place < words.length && voices[place] === voices[change] && voices[place - 1] === voices[change];
  if (!isInRun || !isBreak(words, place) || !isShort(words, change, place)) return false;
  voices.fill(voices[change - 1]!, change, place);
  return true;
}

/** The last `count` words before the change become the later voice's. */
function moveBack(words: readonly Spoken[], voices: number[], change: number, count: number): boolean {
  const place = change - count;
  const isInRun = place > 0 && voices[place - 1] === voices[change - 1] && voices[place] === voices[change - 1];
  if (!isInRun || !isBreak(words, place) || !isShort(words, place, change)) return false;
  voices.fill(voices[change]!, place, change);
  return true;
}

function isShort(words: readonly Spoken[], from: number, end: number): boolean {
  const seconds = words[end - 1]!.endSeconds - words[from]!.startSeconds;
  return seconds <= SHIFT.seconds && !hasSegment(words, from, end);
}

function hasSegment(words: readonly Spoken[], from: number, end: number): boolean {
  return words.slice(from, end).some(({ isSegment }) => isSegment);
}

/** Whether a sentence ends or a pause lies before the word at `at`; true at both ends of the text. */
function isBreak(words: readonly Spoken[], at: number): boolean {
  const [before, after] = [words[at - 1], words[at]];
  if (before === undefined || after === undefined) return true;
  return SENTENCE_END.test(before.text) || after.startSeconds - before.endSeconds >= PAUSE_SECONDS;
}

/** Consecutive words of one voice: the position of the first and the position after the last. */
export function runsOf(voices: readonly unknown[]): { from: number; end: number }[] {
  const runs: { from: number; end: number }[] = [];
  for (const [at, voice] of voices.entries()) {
    if (at > 0 && voice === voices[at - 1]) runs.at(-1)!.end = at + 1;
    else runs.push({ from: at, end: at + 1 });
  }
  return runs;
}

/** Finds turns by time without looking at all of them. */
class TurnSearch {
  readonly #turns: readonly Turn[];
  /** The latest end of the turns up to each position. */
  readonly #ends: number[] = [];

  constructor(turns: readonly Turn[]) {
    this.#turns = turns;
    for (const { endSeconds } of turns) this.#ends.push(Math.max(this.#ends.at(-1) ?? 0, endSeconds));
  }

  /** The turns that reach into the interval or touch it. */
  *between(startSeconds: number, endSeconds: number): Generator<Turn> {
    for (let at = this.#firstThatEndsAfter(startSeconds); at < this.#turns.length; at++) {
      const turn = this.#turns[at]!;
      if (turn.startSeconds > endSeconds) return;
      if (turn.endSeconds >= startSeconds) yield turn;
    }
  }

  #firstThatEndsAfter(seconds: number): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! < seconds) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
