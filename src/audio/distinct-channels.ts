import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { SILENCE_MAX_AMPLITUDE } from '../engines/silence.ts';

/**
 * The channels of some audio, each by its number from 0.
 * @property distinct  the channels that equal no earlier one; at least one
 * @property copies    the others
 * @property silent    the channels that are silent throughout
 */
export type ChannelFindings = { channels: number; distinct: number[]; copies: number[]; silent: number[] };

// Short enough that a single word on one of two channels counts, also a quiet word beside loud sounds on both.
const BLOCK_SAMPLES = SAMPLE_RATE;
// Lossy codecs leave two equal channels a little different; so does a balance that is not in the middle.
const LEAST_CORRELATION = 0.999;
const MOST_POWER_RATIO = 10 ** (0.5 / 10);

/**
 * Compares the channels of all chunks. Two channels are equal when they sound alike in every second: what differs is
 * silence, or the samples correlate and the level differs by at most 0.5 dB.
 * @param chunks  of at least one channel each, always as many
 */
export async function compareChannels(chunks: AsyncIterable<Pcm[]>): Promise<ChannelFindings> {
  let comparison: Comparison | null = null;
  for await (const chunk of chunks) {
    comparison ??= new Comparison(chunk.length);
    comparison.add(chunk);
  }
  return (comparison ?? new Comparison(1)).findings();
}

class Comparison {
  readonly #block: Pcm[];
  #filled = 0;
  /** Channels that were alike so far, the lowest of each group first. A group is only ever divided. */
  #groups: number[][];
  #silent: Set<number>;

  constructor(channels: number) {
    const numbers = Array.from({ length: channels }, (_, channel) => channel);
    this.#block = numbers.map(() => new Int16Array(BLOCK_SAMPLES));
    this.#groups = [numbers];
    this.#silent = new Set(numbers);
  }

  add(chunk: Pcm[]): void {
    const { length } = chunk[0]!;
    for (let at = 0; at < length; ) {
      const end = Math.min(length, at + BLOCK_SAMPLES - this.#filled);
      for (const [channel, samples] of chunk.entries()) {
        this.#block[channel]!.set(samples.subarray(at, end), this.#filled);
      }
      this.#filled += end - at;
      at = end;
      if (this.#filled === BLOCK_SAMPLES) this.#compare();
    }
  }

  findings(): ChannelFindings {
    this.#compare();
    const ascending = (left: number, right: number) => left - right;
    return {
      channels: this.#block.length,
      distinct: this.#groups.map((group) => group[0]!).sort(ascending),
      copies: this.#groups.flatMap((group) => group.slice(1)).sort(ascending),
      silent: [...this.#silent],
    };
  }

  #compare(): void {
    const block = this.#block.map((samples) => samples.subarray(0, this.#filled));
    this.#filled = 0;
    for (const channel of this.#silent) if (!isSilent(block[channel]!)) this.#silent.delete(channel);
    this.#groups = this.#groups.flatMap((group) => divided(group, block));
  }
}

/** The channels of a group by which of them are alike in this block. */
function divided(group: number[], block: Pcm[]): number[][] {
  const groups: number[][] = [];
  for (let rest = group; rest.length > 0; ) {
    const first = block[rest[0]!]!;
    const alike = rest.filter((channel, position) => position === 0 || isAlike(first, block[channel]!));
    groups.push(alike);
    rest = rest.filter((channel) => !alike.includes(channel));
  }
  return groups;
}

function isSilent(samples: Pcm): boolean {
  return samples.every((sample) => Math.abs(sample) < SILENCE_MAX_AMPLITUDE);
}

function isAlike(left: Pcm, right: Pcm): boolean {
  let [leftPower, rightPower, product, difference] = [0, 0, 0, 0];
  for (let at = 0; at < left.length; at += 1) {
    const [a, b] = [left[at]!, right[at]!];
    leftPower += a * a;
    rightPower += b * b;
    product += a * b;
    difference = Math.max(difference, Math.abs(a - b));
  }
  if (difference < SILENCE_MAX_AMPLITUDE) return true;
  const powerRatio = Math.max(leftPower, rightPower) / Math.min(leftPower, rightPower);
  return product >= LEAST_CORRELATION * Math.sqrt(leftPower * rightPower) && powerRatio <= MOST_POWER_RATIO;
}
