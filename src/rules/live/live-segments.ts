import { FRAME_SAMPLES } from './resampler.ts';

export type SegmentReason = 'endpoint' | 'max_length' | 'finalize' | 'finish';

/**
 * What happens to the segments of a live session. Positions are frames of 10 ms from the start of the session; ends are
 * exclusive.
 * - `start`: a segment begins, at a frame that may lie up to 0.4 s back
 * - `end`: the segment that began last ends. `end` is the end of its speech, `until` the first frame that no segment
 *   has yet: a session that is continued from its rows goes on there.
 */
export type SegmentChange =
  | { kind: 'start'; start: number }
  | { kind: 'end'; start: number; end: number; until: number; reason: SegmentReason };

export type SegmentOptions = {
  /** Silence that ends a segment; 0: no silence does. */
  endpointingMs: number;
  /** A longer segment is cut at the quietest place of its last 5 s, or of its second half. */
  maxSegmentSeconds: number;
};

/** Where a session continues: the first frame of 10 ms without a segment, and whether speech was cut there. */
export type SegmentPosition = { frame: number; isSpeaking: boolean };

const FRAME_MS = 10;
// Shorter sounds are clicks.
const SPEECH_STARTS_AFTER = 8;
// The first consonant of a word is often too quiet to count as speech.
const PRE_ROLL = 30;
const POST_ROLL = 20;
const LOOK_BACK = SPEECH_STARTS_AFTER + PRE_ROLL;
const FLOOR_WINDOW = 300;
const OVER_FLOOR = 10;
// 54 dB below full scale, as in engines/silence.ts.
const SILENCE_MAX_POWER = 64 ** 2;
const CUT_WITHIN = 500;
const CUT_WIDTH = 20;

/** Frames before the position of a session that its floor depends on. */
export const FLOOR_FRAMES = FLOOR_WINDOW;

/** The mean of the squares of a frame's samples. */
export function framePower(frame: Int16Array): number {
  let sum = 0;
  for (let at = 0; at < frame.length; at++) sum += frame[at]! * frame[at]!;
  return sum / FRAME_SAMPLES;
}

/**
 * Divides a live session into segments of speech by the power of its frames. A frame is speech when it is 10 dB over
 * the lowest power of the last 3 s, and over 54 dB below full scale. What it decides depends on the position that it
 * starts at and on the 3 s before it only.
 */
export class LiveSegments {
  readonly #options: SegmentOptions;
  #floor = new LowestPower();
  /** Powers of the frames of the last 5 s of the segment, for the cut. */
  #powers: number[] = [];
  /** The next frame. */
  #frame: number;
  /** The first frame that no segment has. */
  #until: number;
  #start: number | null;
  /** Whether the segment is the rest of one that was cut. */
  #isRest: boolean;
  #speechFrames = 0;
  #speechEnd: number;

  /**
   * @param before  the powers of up to `FLOOR_FRAMES` frames before the position
   */
  constructor(
    options: SegmentOptions,
    position: SegmentPosition = { frame: 0, isSpeaking: false },
    before: number[] = [],
  ) {
    this.#options = options;
    this.#frame = position.frame;
    this.#until = position.frame;
    this.#start = position.isSpeaking ? position.frame : null;
    this.#isRest = position.isSpeaking;
    this.#speechEnd = position.frame;
    for (const power of before.slice(-FLOOR_WINDOW)) this.#floor.add(power);
  }

  /** Takes the power of the next frame. */
  push(power: number): SegmentChange[] {
    this.#floor.add(power);
    return this.#take(power, power > SILENCE_MAX_POWER && power > OVER_FLOOR * this.#floor.lowest());
  }

  /** Ends the open segment at the last frame that was pushed; null while there is none. */
  end(reason: 'finalize' | 'finish'): SegmentChange | null {
    return this.#start === null ? null : this.#endAt({ end: this.#frame, until: this.#frame, reason });
  }

  /**
   * Passes over frames that the client has lost: the open segment ends before them, and the next begins after them. The
   * floor is that of the start of a session, which decides as 3 s of silence do.
   */
  skip(frames: number): SegmentChange | null {
    const end = Math.min(this.#frame, this.#speechEnd + POST_ROLL);
    this.#frame += frames;
    const ended = this.#start === null ? null : this.#endAt({ end, until: this.#frame, reason: 'endpoint' });
    this.#until = this.#frame;
    this.#speechFrames = 0;
    this.#speechEnd = this.#frame;
    this.#floor = new LowestPower();
    return ended;
  }

  /** How many of the last frames the next segment may begin with. */
  framesToKeep(): number {
    if (this.#start === null) return Math.min(LOOK_BACK, this.#frame - this.#until);
    const { maxSegmentSeconds } = this.#options;
    const age = this.#frame - this.#start;
    const maxAge = 100 * maxSegmentSeconds;
    return Math.max(0, age - (maxAge - cutWithin(maxAge)));
  }

  /** Where another LiveSegments can start and decide the same from the next frame on. */
  position(): SegmentPosition {
    if (this.#start !== null) return { frame: this.#start, isSpeaking: this.#isRest };
    return { frame: Math.max(this.#until, this.#frame - LOOK_BACK), isSpeaking: false };
  }

  #take(power: number, isSpeech: boolean): SegmentChange[] {
    this.#frame += 1;
    if (isSpeech) this.#speechEnd = this.#frame;
    if (this.#start === null) {
      this.#speechFrames = isSpeech ? this.#speechFrames + 1 : 0;
      return this.#speechFrames < SPEECH_STARTS_AFTER ? [] : [this.#open()];
    }
    this.#powers.push(power);
    if (this.#powers.length > CUT_WITHIN) this.#powers.shift();
    return this.#endOfOpen();
  }

  #open(): SegmentChange {
    const start = Math.max(this.#until, this.#frame - LOOK_BACK);
    this.#start = start;
    this.#isRest = false;
    this.#powers = [];
    return { kind: 'start', start };
  }

  #endOfOpen(): SegmentChange[] {
    const { endpointingMs, maxSegmentSeconds } = this.#options;
    const silentMs = (this.#frame - this.#speechEnd) * FRAME_MS;
    if (endpointingMs > 0 && silentMs >= endpointingMs) {
      const end = Math.min(this.#frame, this.#speechEnd + POST_ROLL);
      return [this.#endAt({ end, until: this.#frame, reason: 'endpoint' })];
    }
    if ((this.#frame - this.#start!) * FRAME_MS < maxSegmentSeconds * 1000) return [];
    const cut = this.#quietest();
    const rest = this.#powers.slice(this.#powers.length - (this.#frame - cut));
    const speechEnd = this.#speechEnd;
    const ended = this.#endAt({ end: cut, until: cut, reason: 'max_length' });
    this.#start = cut;
    this.#isRest = true;
    this.#powers = rest;
    this.#speechEnd = Math.max(cut, speechEnd);
    return [ended, { kind: 'start', start: cut }];
  }

  /** The middle of the quietest 200 ms of the last 5 s, or of the second half of a shorter segment. */
  #quietest(): number {
    const within = Math.min(this.#powers.length, cutWithin(this.#frame - this.#start!));
    const powers = this.#powers.slice(-within);
    let sum = powers.slice(0, CUT_WIDTH).reduce((total, power) => total + power, 0);
    let best = { at: 0, sum };
    for (let at = 1; at + CUT_WIDTH <= powers.length; at++) {
      sum += powers[at + CUT_WIDTH - 1]! - powers[at - 1]!;
      if (sum < best.sum) best = { at, sum };
    }
    return this.#frame - powers.length + best.at + CUT_WIDTH / 2;
  }

  #endAt({ end, until, reason }: { end: number; until: number; reason: SegmentReason }): SegmentChange {
    const start = this.#start!;
    this.#start = null;
    this.#speechFrames = 0;
    this.#until = until;
    this.#powers = [];
    return { kind: 'end', start, end, until, reason };
  }
}

function cutWithin(age: number): number {
  return Math.min(CUT_WITHIN, Math.floor(age / 2));
}

/** The lowest of the last 300 powers; before there are 300, at most that of silence. */
class LowestPower {
  /** Rising powers with their positions: each is the lowest from its position on. */
  #rising: { at: number; power: number }[] = [];
  #added = 0;

  add(power: number): void {
    while (this.#rising.length > 0 && this.#rising.at(-1)!.power >= power) this.#rising.pop();
    this.#rising.push({ at: this.#added, power });
    this.#added += 1;
    if (this.#rising[0]!.at <= this.#added - 1 - FLOOR_WINDOW) this.#rising.shift();
  }

  lowest(): number {
    const lowest = this.#rising[0]?.power ?? 0;
    return this.#added < FLOOR_WINDOW ? Math.min(lowest, SILENCE_MAX_POWER / OVER_FLOOR) : lowest;
  }
}
