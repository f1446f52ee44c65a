import { SAMPLE_RATE } from '../engine.ts';

/** Bands of the voice, from 300 Hz on, each half an octave and more above the one before. */
const CENTRES = Array.from({ length: 8 }, (_, band) => 300 * 1.5 ** band);
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
 */
export function changesAsSpeech(samples: Float32Array): boolean {
  const frames = bandEnergies(samples);
  const starts = Math.max(1, Math.ceil((frames.length - PART / 2) / STEP));
  const changes = Array.from({ length: starts }, (_, part) =>
    changeOf(frames.slice(part * STEP, part * STEP + PART)),
  ).filter((change) => change !== null);
  return changes.length === 0 || Math.max(...changes) >= SPEECH_CHANGE_MIN;
}

/** The energy of each band in each frame of 20 ms. */
function bandEnergies(samples: Float32Array): Float64Array[] {
  const frames = Array.from({ length: Math.floor(samples.length / FRAME) }, () => new Float64Array(CENTRES.length));
  for (const [band, centre] of CENTRES.entries()) {
    const angle = (2 * Math.PI * centre) / SAMPLE_RATE;
    const width = Math.sin(angle) / (2 * SHARPNESS);
    const gain = width / (1 + width);
    const first = (2 * Math.cos(angle)) / (1 + width);
    const second = (1 - width) / (1 + width);
    let [x1, x2, y1, y2] = [0, 0, 0, 0];
    for (const [index, frame] of frames.entries()) {
      let energy = 0;
      for (let at = index * FRAME; at < (index + 1) * FRAME; at += 1) {
        const x = samples[at]!;
        const y = gain * (x - x2) + first * y1 - second * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        energy += y * y;
      }
      frame[band] = energy;
    }
  }
  return frames;
}

/** The root mean square change of the colour over a syllable; null where too few frames are loud. */
function changeOf(frames: Float64Array[]): number | null {
  const energies = frames.map((frame) => frame.reduce((sum, energy) => sum + energy, 0));
  const loudest = Math.max(...energies);
  if (loudest === 0) return null;
  const colours = frames.map((frame) => colourOf(frame, (loudest * FLOOR_SHARE) / CENTRES.length));
  const isLoud = (index: number) => energies[index]! > loudest * LOUD_SHARE;
  let squares = 0;
  let count = 0;
  for (let at = LAG; at < frames.length; at += 1) {
    if (!isLoud(at) || !isLoud(at - LAG)) continue;
    for (const [band, level] of colours[at]!.entries()) squares += (level - colours[at - LAG]![band]!) ** 2;
    count += 1;
  }
  return count < FRAMES_MIN ? null : Math.sqrt(squares / (count * CENTRES.length));
}

/** The level of each band, relative to their mean: loudness makes no difference. */
function colourOf(frame: Float64Array, floor: number): Float64Array {
  const levels = frame.map((energy) => Math.log(energy + floor));
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
  return levels.map((level) => level - mean);
}
