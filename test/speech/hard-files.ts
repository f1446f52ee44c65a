import { humming, longVowel, sungVowel, violin } from './sounds.ts';

/** The name of a clip in assets/speech, without its ending. */
export type Clip = 'jfk' | 'librivox-0870' | 'librivox-0880' | 'librivox-0890' | 'librivox-0920' | 'librivox-0930';

/**
 * A file that is hard to transcribe, and what a job has to give for it.
 * @property clips       the inputs of ffmpeg, in order, after which `sounds` follow
 * @property sounds      further inputs: sources of lavfi
 * @property made        a further input, after these: samples between -1 and 1
 * @property filter      a filter graph with the output [out]; absent: the first input as it is
 * @property encode      further arguments of ffmpeg for the output
 * @property extension   of the file; wav by default
 * @property says        the clips whose texts it has, in order; none: an empty text
 * @property errorsMax   the highest word error rate, in percent
 * @property startsAt    seconds at which segments start, to half a second
 * @property warns       the codes of the job's warnings
 */
export type HardFile = {
  title: string;
  clips?: readonly Clip[];
  sounds?: readonly string[];
  made?: () => Float64Array;
  filter?: string;
  encode?: readonly string[];
  extension?: string;
  fields?: Record<string, string>;
  says?: readonly Clip[];
  errorsMax?: number;
  startsAt?: readonly number[];
  seconds?: number;
  warns?: readonly string[];
};

const READING: readonly Clip[] = ['librivox-0870', 'librivox-0880', 'librivox-0890', 'librivox-0920', 'librivox-0930'];
const noise = (colour: string, seconds: number, amplitude: number) =>
  `anoisesrc=d=${seconds}:c=${colour}:a=${amplitude}:seed=38:r=16000`;
const wave = (expression: string, seconds: number) => `aevalsrc='${expression}':d=${seconds}:s=16000`;
const clean = (clip: Clip): Pick<HardFile, 'clips' | 'says'> => ({ clips: [clip], says: [clip] });
const under = (amplitude: string, sound: string): Pick<HardFile, 'sounds' | 'filter'> => ({
  sounds: [sound],
  filter: `[1]volume=${amplitude}[n];[0][n]amix=inputs=2:duration=first:normalize=0[out]`,
});
const SILENT = { says: [], warns: ['no_speech'] };
const WITHOUT_PAUSES =
  'silenceremove=start_periods=1:start_threshold=-40dB:stop_periods=-1:stop_duration=0.05:stop_threshold=-38dB';

/** Eighteen voices at once, none of them understood: each clip three times, backwards, at another speed and place. */
function manyVoices(): Pick<HardFile, 'clips' | 'filter'> {
  const clips: Clip[] = [...READING, 'jfk', ...READING, 'jfk', ...READING, 'jfk'];
  const voices = clips.map((_, at) => {
    const rate = [14_400, 17_600, 20_000, 12_800][(at + Math.floor(at / 6)) % 4]!;
    const from = (1.7 * at) % 5;
    return `[${at}]asetrate=${rate},aresample=16000,areverse,aloop=-1:size=200000,atrim=start=${from}:duration=12,asetpts=PTS-STARTPTS[v${at}]`;
  });
  const mix = `${clips.map((_, at) => `[v${at}]`).join('')}amix=inputs=${clips.length}:normalize=0,volume=0.3[out]`;
  return { clips, filter: [...voices, mix].join(';') };
}

/** What people really send, made from the recordings of the project. */
export const HARD_FILES: readonly HardFile[] = [
  {
    title: 'a long breath between two sentences',
    ...clean('jfk'),
    filter:
      '[0]asplit[a][b];[a]atrim=end=4.6[c];[b]atrim=start=4.6,asetpts=PTS-STARTPTS[d];aevalsrc=0:d=20:s=16000[s];[c][s][d]concat=n=3:v=0:a=1[out]',
    startsAt: [0.3, 25.4],
    errorsMax: 10,
  },
  {
    title: 'a reading of 25 s',
    clips: READING,
    filter: '[0][1][2][3][4]concat=n=5:v=0:a=1[out]',
    says: READING,
    startsAt: [0.2],
    errorsMax: 6,
  },
  {
    title: 'speech without any pause',
    clips: [...READING, 'jfk'],
    filter: `[0][1][2][3][4][5]concat=n=6:v=0:a=1,${WITHOUT_PAUSES}[out]`,
    says: [...READING, 'jfk'],
    errorsMax: 15,
  },
  { title: 'slow speech', ...clean('librivox-0870'), filter: '[0]atempo=0.6[out]', errorsMax: 10 },
  { title: 'fast speech', ...clean('librivox-0920'), filter: '[0]atempo=1.5[out]', errorsMax: 10 },
  { title: 'quiet speech', ...clean('librivox-0890'), filter: '[0]volume=-40dB[out]', errorsMax: 15 },
  { title: 'speech with a peak of -60 dB', ...clean('jfk'), filter: '[0]volume=-58dB[out]', errorsMax: 40 },
  ...[
    { decibels: 24, pad: 'anull' },
    { decibels: 42, pad: 'anull' },
    { decibels: 42, pad: 'apad=pad_dur=1' },
  ].map(({ decibels, pad }) => ({
    title: `a voice ${decibels} dB below those before and after it${pad === 'anull' ? '' : ', with pauses'}`,
    clips: ['librivox-0870', 'librivox-0930', 'librivox-0890'] as const,
    filter: `[0]${pad}[first];[1]volume=-${decibels}dB,${pad}[quiet];[first][quiet][2]concat=n=3:v=0:a=1[out]`,
    says: ['librivox-0870', 'librivox-0930', 'librivox-0890'] as const,
    errorsMax: 10,
  })),
  { title: 'speech that is clipped', ...clean('librivox-0870'), filter: '[0]volume=20dB[out]', errorsMax: 15 },
  {
    title: 'speech in white noise',
    ...clean('librivox-0920'),
    ...under('0dB', noise('white', 7, 0.01)),
    errorsMax: 15,
  },
  { title: 'speech in pink noise', ...clean('librivox-0920'), ...under('0dB', noise('pink', 7, 0.03)), errorsMax: 25 },
  {
    title: 'speech over the hum of the mains',
    ...clean('librivox-0870'),
    ...under('-20dB', wave('sin(314*t)+0.5*sin(628*t)', 8)),
    errorsMax: 10,
  },
  {
    title: 'speech over music',
    ...clean('librivox-0870'),
    ...under('-30dB', wave('sin(1382*t)*(1+sin(12*t))+sin(1740*t)+sin(2073*t)', 8)),
    errorsMax: 15,
  },
  {
    title: 'speech in a hall',
    ...clean('librivox-0890'),
    filter: '[0]aecho=0.8:0.6:60|130:0.4|0.25[out]',
    errorsMax: 30,
  },
  { title: 'speech with a constant offset', ...clean('librivox-0930'), filter: '[0]dcshift=0.2[out]', errorsMax: 0 },
  { title: 'sides of opposite phase', ...clean('jfk'), filter: '[0]pan=stereo|c0=c0|c1=-1*c0[out]', errorsMax: 10 },
  {
    title: 'sides of opposite phase, in AAC',
    ...clean('librivox-0920'),
    filter: '[0]pan=stereo|c0=c0|c1=-1*c0[out]',
    extension: 'm4a',
    errorsMax: 15,
  },
  {
    title: 'one voice on each channel',
    clips: ['jfk', 'librivox-0870'],
    filter: '[1]apad=whole_dur=11[b];[0][b]amerge=inputs=2[out]',
    fields: { multichannel: 'true' },
    says: ['jfk', 'librivox-0870'],
    errorsMax: 15,
  },
  { title: 'a telephone', ...clean('librivox-0870'), encode: ['-ar', '8000', '-c:a', 'pcm_mulaw'], errorsMax: 15 },
  { title: 'an MP3 of 32 kbit/s', ...clean('librivox-0920'), encode: ['-b:a', '32k'], extension: 'mp3', errorsMax: 15 },
  {
    title: 'an Opus file of 16 kbit/s',
    ...clean('librivox-0920'),
    encode: ['-b:a', '16k', '-c:a', 'libopus'],
    extension: 'ogg',
    errorsMax: 15,
  },
  {
    title: 'audio that starts late in its container',
    ...clean('librivox-0930'),
    sounds: ['color=s=16x16:r=5:d=9'],
    filter: '[0]asetpts=PTS+5/TB[out]',
    encode: ['-map', '1:v', '-c:v', 'mpeg4', '-c:a', 'aac'],
    extension: 'mp4',
    startsAt: [5.3],
    errorsMax: 15,
  },
  {
    title: 'a sentence after 5.5 s of a quiet room',
    ...clean('librivox-0930'),
    sounds: [noise('pink', 5.5, 0.003)],
    filter: '[1][0]concat=n=2:v=0:a=1[out]',
    startsAt: [5.8],
    errorsMax: 0,
  },
  {
    title: 'a sentence between 10 s of hiss',
    ...clean('librivox-0930'),
    sounds: [noise('white', 10, 0.003), noise('white', 10, 0.003)],
    filter: '[1][0][2]concat=n=3:v=0:a=1[out]',
    startsAt: [10.3],
    errorsMax: 0,
  },
  {
    title: 'a sentence after the tone of a telephone',
    ...clean('librivox-0890'),
    sounds: [wave('0.2*sin(2670*t)*lt(mod(t,5),1)', 12)],
    filter: '[1][0]concat=n=2:v=0:a=1[out]',
    startsAt: [12.3],
    errorsMax: 20,
  },
  { title: 'hiss', sounds: [noise('white', 30, 0.005)], ...SILENT },
  { title: 'a rumble', sounds: [noise('brown', 20, 0.2)], ...SILENT },
  {
    title: 'knocks in a quiet room',
    sounds: [wave('0.0005*(random(0)-0.5)+0.6*exp(-60*mod(t,5))*sin(754*t)*gt(t,2)', 30)],
    ...SILENT,
  },
  { title: 'the hum of the mains', sounds: [wave('0.1*sin(314*t)+0.05*sin(628*t)+0.03*sin(942*t)', 12)], ...SILENT },
  {
    title: 'music',
    sounds: [wave('0.2*sin(1382*t)*(0.5+0.5*sin(12*t))+0.15*sin(1740*t)+0.15*sin(2073*t)', 12)],
    ...SILENT,
  },
  { title: 'the ringing tone of a telephone', sounds: [wave('0.2*sin(2670*t)*lt(mod(t,5),1)', 15)], ...SILENT },
  {
    title: 'a ringing tone of two frequencies',
    sounds: [wave('0.2*(sin(2765*t)+sin(3016*t))*lt(mod(t,6),2)', 12)],
    ...SILENT,
  },
  { title: 'a long "ah"', made: () => longVowel(10, 1), ...SILENT },
  { title: 'a melody on one vowel', made: () => sungVowel(10, 3), ...SILENT },
  { title: 'a tune that is hummed', made: () => humming(10, 4), ...SILENT },
  { title: 'a violin', made: () => violin(10, 1), ...SILENT },
  { title: 'many voices at once', ...manyVoices(), ...SILENT },
  {
    title: 'a sentence after a tune that is hummed',
    ...clean('librivox-0930'),
    made: () => humming(10, 4),
    filter: '[1][0]concat=n=2:v=0:a=1[out]',
    startsAt: [10.3],
    errorsMax: 15,
  },
  { title: 'hiss of high frequencies', sounds: [noise('blue', 12, 0.01)], ...SILENT },
  { title: 'noise of 0.3 s', sounds: [noise('white', 0.3, 0.17)], ...SILENT },
  { title: 'digital silence', sounds: ['anullsrc=r=16000:cl=mono:d=30'], ...SILENT },
];
