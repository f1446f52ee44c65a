import { stat } from 'node:fs/promises';
import type { ToolPaths } from '../../platform/tools.ts';
import { tooLong } from '../audio-error.ts';
import { findPlainWav, plainSeconds } from '../plain-wav.ts';
import type { JailBounds } from '../sandbox/bounded-process.ts';
import { runJailed } from '../sandbox/bounded-process.ts';
import { DISTRUST, INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { ProbedFile } from './ffprobe-answer.ts';
import { claimedSeconds, formatName, reasonToRefuse } from './ffprobe-answer.ts';
import { openGlancer } from './header-probe.ts';

export type ProbeResult =
  /**
   * `format` is a short name such as mp3, or unknown. `durationMs` is what the file claims, or an estimate that errs
   * upwards; of a file that cannot be walked through in time it is what was seen of it, which may be 0.
   */
  { kind: 'audio'; format: string; durationMs: number } | { kind: 'refused'; message: string };

export type AudioOptions = { tools: ToolPaths; maxAudioSeconds: number; signal?: AbortSignal };

/** Runs work when it is its turn. */
export type Turn = <Result>(work: () => Promise<Result>) => Promise<Result>;

const NOT_MEDIA = 'The file is not audio or video that can be decoded. Send wav, mp3, m4a, ogg, flac, webm or mp4.';
// For both programs together. With the second that the thread may take, a probe lasts at most three.
const PROGRAMS_MAX_MS = 2_000;
const BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 3, stdoutMaxBytes: 256 * 1024 };
// The lowest bit rate at which speech is still sent (AMR, Opus): a file can hardly play longer than this makes it.
const LOWEST_BITS_PER_SECOND = 4750;
/** Of the whole process; its thread starts with the first file. */
const glanceAt = openGlancer();

/**
 * What a file claims to be, from one short look at its headers. The decoded length decides in the end. Only what is
 * neither plain samples nor plainly readable is looked at by a program, in the jail. What is not known after 3 s is left
 * to the decoder.
 * @param path  a path that we made ourselves
 * @param turn  when the programs may run; at once unless given
 */
export async function probeAudio(
  path: string,
  options: AudioOptions,
  turn: Turn = (work) => work(),
): Promise<ProbeResult> {
  const { maxAudioSeconds } = options;
  const plain = await findPlainWav(path);
  if (plain !== null) return judgeLength('wav', plainSeconds(plain), maxAudioSeconds);
  const glance = await glanceAt(path);
  if (glance !== null && glance.seconds <= maxAudioSeconds) {
    return { kind: 'audio', format: glance.format, durationMs: Math.ceil(glance.seconds * 1000) };
  }
  return await turn(() => probeByPrograms(path, options));
}

async function probeByPrograms(path: string, { tools, signal, maxAudioSeconds }: AudioOptions): Promise<ProbeResult> {
  const endsAtMs = performance.now() + PROGRAMS_MAX_MS;
  const bounds = () => ({ ...BOUNDS, input: path, tools, signal, wallMs: Math.max(1, endsAtMs - performance.now()) });
  const file = await readHeaders(bounds());
  if (file === 'out of time') return { kind: 'audio', format: 'unknown', durationMs: 0 };
  if (file === null) return refused(NOT_MEDIA);
  const reason = reasonToRefuse(file);
  if (reason !== null) return refused(reason);
  const { size: sizeBytes } = await stat(path);
  const seconds =
    claimedSeconds(file, sizeBytes) ??
    (await walkPackets(bounds())) ??
    Math.min(maxAudioSeconds, (sizeBytes * 8) / LOWEST_BITS_PER_SECOND);
  return judgeLength(formatName(file), seconds, maxAudioSeconds);
}

function judgeLength(format: string, seconds: number, maxAudioSeconds: number): ProbeResult {
  if (seconds > maxAudioSeconds) return refused(tooLong(maxAudioSeconds).message);
  return { kind: 'audio', format, durationMs: Math.ceil(seconds * 1000) };
}

function refused(message: string): ProbeResult {
  return { kind: 'refused', message };
}

type RunBounds = JailBounds & { wallMs: number; stdoutMaxBytes: number };

/** Null for what is not media. */
async function readHeaders(bounds: RunBounds): Promise<ProbedFile | 'out of time' | null> {
  const entries = [
    'format=format_name,duration,bit_rate',
    'format_tags=major_brand',
    'stream=codec_type,codec_name,sample_rate,channels,duration,bits_per_sample',
    'stream_disposition=attached_pic',
    'stream_tags=DURATION',
  ];
  const args = [...DISTRUST, '-show_entries', entries.join(':'), '-of', 'json', ...INPUT];
  const ran = await runJailed('ffprobe', args, bounds);
  if (ran?.code === null) return 'out of time';
  return ran?.code === 0 ? (JSON.parse(ran.stdout) as ProbedFile) : null;
}

/**
 * The time of the last packet, for files that do not tell their length, such as those a browser records; nothing is
 * decoded. Of the last packet that was reached, where the time is over before.
 */
async function walkPackets(bounds: RunBounds): Promise<number | null> {
  const output = ['-map', '0:a:0', '-c', 'copy', '-f', 'null', '-progress', 'pipe:1', '-'];
  const ran = await runJailed('ffmpeg', ['-nostdin', ...DISTRUST, ...INPUT, ...output], bounds);
  if (ran === null || (ran.code !== 0 && ran.code !== null)) return null;
  const last = ran.stdout.match(/out_time_us=(\d+)/g)?.at(-1);
  if (last === undefined) return ran.code === null ? 0 : null;
  return Number(last.slice('out_time_us='.length)) / 1e6;
}
