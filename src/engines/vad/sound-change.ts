import { SAMPLE_RATE } from '../engine.ts';

/** Bands of the voice, from 300 Hz on, each half an octave and more above the one before. */
const BANDS = 8;
const LOWEST = 300;
const RATIO = 1.5;
const SHARPNESS = 2.5;
const FRAME = SAMPLE_RATE / 50;
/** About the length of a syllable. */
const LAG = 5;
/** 30 dB below the loudest frame there are pauses. */
const LOUD_SHARE = 1e-3;
/** 40 dB below it, what is in a band does not matter. */
const FLOOR_SHARE = 1e-4;
/** The longest part that is measured at once: of speech beside a long note, some part is speech alone. */
const PART = 75;
const STEP = 25;
/** Of fewer frames nothing is known. */
const FRAMES_MIN = 20;
/**
 * How far the colour of the sound moves within a syllable, in nepers of a band: speech has 0.6 and more, in noise and
 * in halls too. A held note, a hum or a howl has 0.1 to 0.5.
 */
const SPEECH_CHANGE_MIN = 0.55;

/**
 * Whether the colour of a sound changes as that of speech does, from one syllable to the next. That of a sung vowel,
 * a horn, strings or wind does not, whatever their pitch and loudness. True for a sound that is too short to tell.
 * Reads no more of the sound than up to the end of a part that changes.
 */
export function changesAsSpeech(samples: Float32Array): boolean {
  const count = Math.floor(samples.length / FRAME);
  const starts = Math.max(1, Math.ceil((count - PART / 2) / STEP));
  const energies = new Float64Array(count * BANDS);
  const filters = Array.from({ length: BANDS }, (_, band) => new Filter(LOWEST * RATIO ** band));
  let isKnown = false;
  for (let start = 0, measured = 0; start < starts; start += 1) {
    const end = Math.min(count, start * STEP + PART);
    const sound = samples.subarray(measured * FRAME, end * FRAME);
    for (const [band, filter] of filters.entries()) filter.measure(sound, energies, measured * BANDS + band);
    measured = end;
    const change = changeOf(energies.subarray(start * STEP * BANDS, end * BANDS));
    if (change !== null && change >= SPEECH_CHANGE_MIN) return true;
    isKnown ||= change !== null;
  }
  return !isKnown;
}

/** Lets one band pass, and goes on where it stopped. */
class Filter {
  readonly #gain: number;
  readonly #first: number;
  readonly #second: number;
  readonly #last = new Float64Array(4);

  constructor(centre: number) {
    const angle = (2 * Math.PI * centre) / SAMPLE_RATE;
    const width = Math.sin(angle) / (2 * SHARPNESS);
    this.#gain = width / (1 + width);
    this.#first = (2 * Math.cos(angle)) / (1 + width);
    this.#second = (1 - width) / (1 + width);
  }

  /** Writes the energy of each frame of a sound, the first at that index. */
  measure(sound: Float32Array, energies: Float64Array, index: number): void {
    const [gain, first, second] = [this.#gain, this.#first, this.#second];
    const last = this.#last;
    let [x1, x2, y1, y2] = [last[0]!, last[1]!, last[2]!, last[3]!];
    for (let at = 0, to = index; at < sound.length; to += BANDS) {
      let energy = 0;
      for (const end = at + FRAME; at < end; at += 1) {
        const x = sound[at]!;
        const y = gain * (x - x2) + first * y1 - second * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        energy += y * y;
      }
      energies[to] = energy;
    }
    last.set([x1, x2, y1, y2]);
  }
}

/**
 * The root mean square change of the colour over a syllable; null where too few frames are loud.
 * @param energies  of the bands of each frame
 */
function changeOf(energies: Float64Array): number | null {
  const frames = energies.length / BANDS;
  const loudness = Float64Array.from({ length: frames }, (_, frame) => {
    let sum = 0;
    for (let at = frame * BANDS; at < (frame + 1) * BANDS; at += 1) sum += energies[at]!;
    return sum;
  });
  const loudest = Math.max(...loudness);
  if (loudest === 0) return null;
  const colours = coloursOf(energies, (loudest * FLOOR_SHARE) / BANDS);
  const isLoud = (frame: number) => loudness[frame]! > loudest * LOUD_SHARE;
  let squares = 0;
  let count = 0;
  for (let frame = LAG; frame < frames; frame += 1) {
    if (!isLoud(frame) || !isLoud(frame - LAG)) continue;
    for (let at = frame * BANDS; at < (frame + 1) * BANDS; at += 1) {
      squares += (colours[at]! - colours[at - LAG * BANDS]!) ** 2;
    }
    count += 1;
  }
  return count < FRAMES_MIN ? null : Math.sqrt(squares / (count * BANDS));
}

/** The level of each band, relative to the mean of its frame: loudness makes no difference. */
function coloursOf(energies: Float64Array, floor: number): Float64Array {
  const levels = energies.map((energy) => Math.log(energy + floor));
  for (let from = 0; from < levels.length; from += BANDS) {
    const frame = levels.subarray(from, from + BANDS);
    const mean = frame.reduce((sum, level) => sum + level, 0) / BANDS;
    for (let at = 0; at < BANDS; at += 1) frame[at]! -= mean;
  }
  return levels;
}
