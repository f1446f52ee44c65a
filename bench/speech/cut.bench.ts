// Where long audio is cut: how many cuts fall inside a word, by the service's rule (the quietest 200 ms), with and
// without Silero VAD, and by the silence that Silero VAD and ffmpeg find, on speech whose words are known to the
// sample, under noise. Debian's flite speaks it. BENCH_SEED takes other passages.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FindSpeech } from '../../src/audio/detect-ahead.ts';
import { cutPieces } from '../../src/audio/split.ts';
import { dataPaths, readConfig } from '../../src/config/settings.ts';
import { type Pcm, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { openVoiceDetector, type VoiceDetector } from '../../src/engines/vad/vad.ts';
import { openLog } from '../../src/platform/log.ts';
import { wavOf } from '../../test/fixtures/audio/wav.ts';
import { type Random, randomFrom } from '../../test/fixtures/random.ts';
import { round } from '../figures.ts';

const VOICES = ['slt', 'rms', 'awb', 'kal16'];
const TEXTS = [
  'The committee met on Thursday, and nobody could agree about the budget for the coming year.',
  'She opened the window because the kitchen was full of smoke from the burning toast',
  'Seventy percent of the passengers had already left the station when the announcement was made',
  'If you want to cancel your subscription, please call the number on the back of your card.',
  'Scientists discovered that the temperature of the lake changes slowly during the winter months',
  'He carried the heavy boxes upstairs, sat down on the floor, and began to open them one by one.',
  'The new railway line connects the harbour with several villages along the northern coast',
  'Before the meeting ends, somebody should write down what was decided and who is responsible.',
  'Our neighbours planted apple trees in the garden behind the old school about ten years ago',
  'It was difficult to understand the speaker, since the microphone stopped working after a while.',
];
const PASSAGE_SECONDS = 180;
const GAPS_SECONDS = [0.03, 0.15, 0.4];
// What a cut may be off by and still spare the word: the edge of a sound is no sharper.
const EDGE_SECONDS = 0.02;
const FULL_SCALE = 32_768;
const SEED = Number(process.env['BENCH_SEED'] ?? 20_261_121);

type Span = { start: number; end: number };
type Sentence = { samples: Float64Array; words: Span[] };
type Sound = 'clean' | 'white' | 'rumble' | 'babble' | 'gusts';
type Rule = { name: string; cuts(pcm: Pcm): Promise<number[]> };

const PLAIN_RULES: Rule[] = [
  { name: 'quietest 200 ms', cuts: (pcm) => cutsOfOurs(pcm) },
  { name: 'silencedetect -30 dB', cuts: async (pcm) => cutsAtSilence(pcm, -30) },
  { name: 'silencedetect -35 dB', cuts: async (pcm) => cutsAtSilence(pcm, -35) },
  { name: 'every 30 s', cuts: async (pcm) => cutsAtSilence(pcm, null) },
];
const CONDITIONS: { sound: Sound; snrDb: number; levelDb: number }[] = [
  { sound: 'clean', snrDb: 99, levelDb: -20 },
  { sound: 'clean', snrDb: 99, levelDb: -42 },
  ...[20, 10, 5, 0].map((snrDb) => ({ sound: 'white' as const, snrDb, levelDb: -20 })),
  ...[10, 0].map((snrDb) => ({ sound: 'rumble' as const, snrDb, levelDb: -20 })),
  ...[20, 10, 5].map((snrDb) => ({ sound: 'babble' as const, snrDb, levelDb: -20 })),
  ...[20, 10, 0].map((snrDb) => ({ sound: 'gusts' as const, snrDb, levelDb: -20 })),
];

const config = readConfig();
const folder = mkdtempSync(path.join(os.tmpdir(), 'cut-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
if (isFliteHere()) await measure();
else console.log('cut: not measured, for flite is not installed. Type: apt-get install flite');

async function measure(): Promise<void> {
  await using detector = await openVoiceDetector({
    modelsDir: dataPaths(config.dataDir).models,
    slots: os.availableParallelism(),
    tools: { folder: config.toolsDir },
    log: openLog('warn'),
  });
  const rules = detector === null ? PLAIN_RULES : [...rulesWith(detector), ...PLAIN_RULES];
  if (detector === null) console.log('cut: without Silero VAD. Type: verbatim models pull silero-vad');
  const random = randomFrom(SEED);
  const spoken = new Map(VOICES.map((voice) => [voice, TEXTS.map((text) => speak(voice, text))]));
  const all = [...spoken.values()].flat();
  console.log(
    `cuts inside a word, %, of cuts in ${VOICES.length * GAPS_SECONDS.length} passages of ${PASSAGE_SECONDS} s`,
  );
  console.log(
    ['sound, dB above noise, dB of level'.padEnd(36), ...rules.map(({ name }) => name.padStart(22))].join(''),
  );
  for (const { sound, snrDb, levelDb } of CONDITIONS) {
    const counts = rules.map(() => ({ cuts: 0, inside: 0 }));
    for (const sentences of spoken.values()) {
      for (const gap of GAPS_SECONDS) {
        const { samples, words } = passage(sentences, gap, random);
        const pcm = mixed(samples, noiseOf(sound, samples.length, all, random), snrDb, levelDb);
        for (const [index, rule] of rules.entries()) {
          const cuts = await rule.cuts(pcm);
          counts[index]!.cuts += cuts.length;
          counts[index]!.inside += cuts.filter((at) => isInside(words, at)).length;
        }
      }
    }
    const shares = counts.map(({ cuts, inside }) => `${round((100 * inside) / cuts)} of ${cuts}`.padStart(22));
    console.log([`${sound}, ${snrDb}, ${levelDb}`.padEnd(36), ...shares].join(''));
  }
}

function isInside(words: Span[], at: number): boolean {
  return words.some(({ start, end }) => at > start + EDGE_SECONDS && at < end - EDGE_SECONDS);
}

function isFliteHere(): boolean {
  try {
    execFileSync('flite', ['-lv'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Sounds and when they end, as flite tells them; silence is `pau`. */
function soundsOf(voice: string, text: string, file: string): { sound: string; end: number }[] {
  const spoken = execFileSync('flite', ['-voice', voice, '-t', text, '-psdur', '-o', file], { encoding: 'utf8' });
  return spoken
    .trim()
    .split(/\s+/)
    .map((one) => ({ sound: one.split(':')[0]!, end: Number(one.split(':')[1]) }));
}

/** A sentence without the silence around it. Words take as many sounds as they have when they are said alone. */
function speak(voice: string, text: string): Sentence {
  const file = path.join(folder, 'spoken.wav');
  const sounds = soundsOf(voice, text, file);
  const first = sounds[0]!.end;
  const last = sounds.at(-2)!.end;
  const wav = readFileSync(file);
  const pcm = new Int16Array(wav.buffer, wav.byteOffset + 44, (wav.length - 44) >> 1);
  const samples = Float64Array.from(pcm.subarray(Math.round(first * SAMPLE_RATE), Math.round(last * SAMPLE_RATE)));
  const alone = path.join(folder, 'alone.wav');
  const words: Span[] = [];
  let index = 0;
  for (const word of text.split(' ')) {
    const count = soundsOf(voice, word, alone).filter(({ sound }) => sound !== 'pau').length;
    while (sounds[index]!.sound === 'pau') index += 1;
    words.push({ start: sounds[index - 1]!.end - first, end: sounds[index + count - 1]!.end - first });
    index += count;
  }
  if (index !== sounds.length - 1) throw new Error(`${voice} says "${text}" otherwise than its words`);
  return { samples, words };
}

function passage(sentences: Sentence[], gapSeconds: number, random: Random): Sentence {
  const samples = new Float64Array(PASSAGE_SECONDS * SAMPLE_RATE);
  const words: Span[] = [];
  let at = 0;
  while (true) {
    const next = random.pick(sentences);
    if (at + next.samples.length > samples.length) return { samples: samples.subarray(0, at), words };
    samples.set(next.samples, at);
    words.push(
      ...next.words.map(({ start, end }) => ({ start: start + at / SAMPLE_RATE, end: end + at / SAMPLE_RATE })),
    );
    at += next.samples.length + Math.round(gapSeconds * (0.5 + random.next()) * SAMPLE_RATE);
  }
}

function noiseOf(sound: Sound, length: number, sentences: Sentence[], random: Random): Float64Array {
  const noise = new Float64Array(length);
  if (sound === 'babble') {
    for (let talker = 0; talker < 6; talker += 1) {
      for (let at = 0; at < length; ) {
        const { samples } = random.pick(sentences);
        for (let i = 0; i < samples.length && at + i < length; i += 1) noise[at + i]! += samples[i]!;
        at += samples.length;
      }
    }
    return noise;
  }
  let held = 0;
  let loudness = 1;
  for (let at = 0; at < length; at += 1) {
    const white = random.next() * 2 - 1;
    // Below about 25 Hz, as of engines and wind.
    held = 0.99 * held + white;
    if (at % (SAMPLE_RATE / 2) === 0) loudness = 10 ** ((random.next() * 18 - 12) / 20);
    noise[at] = sound === 'rumble' ? held : sound === 'gusts' ? white * loudness : white;
  }
  return noise;
}

/**
 * Speech at that level under full scale, with noise so much below it; a recorder's own hiss of -70 dB is always there.
 */
function mixed(speech: Float64Array, noise: Float64Array, snrDb: number, levelDb: number): Pcm {
  const speechGain = (FULL_SCALE * 10 ** (levelDb / 20)) / rms(speech);
  const noiseGain = (FULL_SCALE * 10 ** ((levelDb - snrDb) / 20)) / Math.max(rms(noise), 1);
  return Int16Array.from(speech, (sample, at) => {
    const value = sample * speechGain + noise[at]! * noiseGain + Math.sin(at * at) * 10;
    return Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, value));
  });
}

function rms(samples: Float64Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function rulesWith(detector: VoiceDetector): Rule[] {
  const { signal } = new AbortController();
  const find: FindSpeech = async (audio) => {
    const heard = await detector.find(audio, signal);
    if (heard === null) throw new Error('Silero VAD gave no answer');
    return heard;
  };
  return [
    { name: 'same with Silero', cuts: (pcm) => cutsOfOurs(pcm, find) },
    { name: 'Silero, longest gap', cuts: (pcm) => cutsInGaps(pcm, find) },
  ];
}

async function cutsOfOurs(pcm: Pcm, find?: FindSpeech): Promise<number[]> {
  const pieces = await Array.fromAsync(cutPieces([pcm] as unknown as AsyncIterable<Pcm>, find));
  return pieces.slice(1).map(({ startSeconds }, index) => pieces[index]!.cutSeconds ?? startSeconds);
}

/** Stretches below that level of at least 100 ms, as ffmpeg sees them. */
function silencesOf(pcm: Pcm, thresholdDb: number): Span[] {
  const file = path.join(folder, 'passage.wav');
  writeFileSync(file, wavOf(pcm));
  const filter = `silencedetect=noise=${thresholdDb}dB:duration=0.1`;
  const { stderr } = spawnSync('ffmpeg', ['-nostats', '-i', file, '-af', filter, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  const times = (name: string) =>
    [...stderr.matchAll(new RegExp(`silence_${name}: ([\\d.]+)`, 'g'))].map((found) => Number(found[1]));
  const ends = times('end');
  return times('start').map((start, index) => ({ start, end: ends[index] ?? Number.POSITIVE_INFINITY }));
}

/** In the middle of the longest silence between 20 and 30 s; at 30 s where there is none, or none is looked for. */
function cutsAtSilence(pcm: Pcm, thresholdDb: number | null): number[] {
  const silences = thresholdDb === null ? [] : silencesOf(pcm, thresholdDb);
  const cuts: number[] = [];
  for (let start = 0; pcm.length / SAMPLE_RATE - start > 30; start = cuts.at(-1)!) {
    cuts.push(middleOfLongest(silences, start) ?? start + 30);
  }
  return cuts;
}

/** The same, of what lies between the stretches of speech that are found from half a second before. */
async function cutsInGaps(pcm: Pcm, find: FindSpeech): Promise<number[]> {
  const cuts: number[] = [];
  for (let start = 0; pcm.length / SAMPLE_RATE - start > 30; start = cuts.at(-1)!) {
    const from = start + 19.5;
    const part = pcm.slice(from * SAMPLE_RATE, (start + 30) * SAMPLE_RATE);
    const speech = (await find(part, new AbortController().signal)) ?? [];
    const edges = [from, ...speech.flatMap((one) => [from + one.startSeconds, from + one.endSeconds]), start + 30];
    const gaps = Array.from({ length: edges.length / 2 }, (_, gap) => ({
      start: edges[2 * gap]!,
      end: edges[2 * gap + 1]!,
    }));
    cuts.push(middleOfLongest(gaps, start) ?? start + 30);
  }
  return cuts;
}

function middleOfLongest(silences: Span[], pieceStart: number): number | null {
  const [longest] = silences
    .map((one) => ({ start: Math.max(one.start, pieceStart + 20), end: Math.min(one.end, pieceStart + 30) }))
    .filter((one) => one.end > one.start)
    .sort((a, b) => b.end - b.start - (a.end - a.start));
  return longest ? (longest.start + longest.end) / 2 : null;
}
