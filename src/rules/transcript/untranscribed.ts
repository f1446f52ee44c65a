import type { Interval } from './intervals.ts';

/** Between two parts without text, of which one warning is enough. */
const JOINED_GAP_SECONDS = 2;

/**
 * Parts of speech without text, as few as possible: neighbours are one where no text stands between them.
 * @param parts  sorted
 * @param texts  where text stands
 */
export function joinUntranscribed(parts: readonly Interval[], texts: readonly Interval[]): Interval[] {
  const joined: Interval[] = [];
  for (const next of parts) {
    const last = joined.at(-1);
    const isNear = last !== undefined && next.startSeconds - last.endSeconds <= JOINED_GAP_SECONDS;
    const isBetween = (text: Interval) => text.endSeconds > last!.endSeconds && text.startSeconds < next.startSeconds;
    if (isNear && !texts.some(isBetween)) last.endSeconds = Math.max(last.endSeconds, next.endSeconds);
    else joined.push({ ...next });
  }
  return joined;
}

/** Collects what is not transcribed of several channels, piece by piece. */
export class Untranscribed {
  readonly #channels: { parts: Interval[]; texts: readonly Interval[] }[];

  constructor(channels: number) {
    this.#channels = Array.from({ length: channels }, () => ({ parts: [], texts: [] }));
  }

  /**
   * Adds the next piece of a channel. Times count from the start of the audio.
   * @param position  the channel's position among the channels
   */
  add(position: number, parts: readonly Interval[], texts: readonly Interval[]): void {
    const before = this.#channels[position]!;
    const joined = joinUntranscribed([...before.parts, ...parts], [...before.texts, ...texts]);
    this.#channels[position] = { parts: joined, texts };
  }

  /** The parts of all channels, by their starts. */
  parts(): Interval[] {
    const all = this.#channels.flatMap(({ parts }) => parts);
    return all.toSorted((one, other) => one.startSeconds - other.startSeconds);
  }

  /** The length of all parts in whole milliseconds, as the warnings show their times: it is not charged. */
  ms(): number {
    return this.parts().reduce((sum, part) => sum + wholeMs(part.endSeconds) - wholeMs(part.startSeconds), 0);
  }
}

function wholeMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
