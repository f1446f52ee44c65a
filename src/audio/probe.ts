import { stat } from 'node:fs/promises';
import type { ToolPaths } from '../runtime/tools.ts';
import { tooLong } from './decode.ts';
import { DISTRUST, INPUT } from './ffmpeg-arguments.ts';
import { openGlancer } from './glance.ts';
import type { JailBounds } from './jail.ts';
import { runJailed } from './jail.ts';
import { findPlainWav, plainSeconds } from './plain-wav.ts';
import type { ProbedFile } from './probed-file.ts';
import { claimedSeconds, formatName, reasonToRefuse } from './probed-file.ts';

export type ProbeResult =
  /** `format` is a short name such as mp3; `durationMs` is what the file claims, or an estimate that errs upwards. */
  { kind: 'audio'; format: string; durationMs: number } | { kind: 'refused'; message: string };

export type AudioOptions = { tools: ToolPaths; maxAudioSeconds: number; signal?: AbortSignal };

const NOT_MEDIA = 'The file is not audio or video that can be decoded. Send wav, mp3, m4a, ogg, flac, webm or mp4.';
const HEADER_BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 10, wallMs: 10_000, stdoutMaxBytes: 256 * 1024 };
const WALK_BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 20, wallMs: 20_000, stdoutMaxBytes: 256 * 1024 };
// The lowest bit rate at which speech is still sent (AMR, Opus): a file can hardly play longer than this makes it.
const LOWEST_BITS_PER_SECOND = 4750;
/** Of the whole process; its thread starts with the first file. */
const glanceAt = openGlancer();

/**
 * What a file claims to be, from one short look at its headers. The decoded length decides in the end. Only what is
 * neither plain samples nor plainly readable is looked at by a program, in the jail.
 * @param path  a path that we made ourselves
 */
export async function probeAudio(path: string, options: AudioOptions): Promise<ProbeResult> {
  const { tools, signal, maxAudioSeconds } = options;
  const plain = await findPlainWav(path);
  if (plain !== null) return judgeLength('wav', plainSeconds(plain), maxAudioSeconds);
  const glance = await glanceAt(path);
  if (glance !== null && glance.seconds <= maxAudioSeconds) {
    return { kind: 'audio', format: glance.format, durationMs: Math.ceil(glance.seconds * 1000) };
  }
  const { size: sizeBytes } = await stat(path);
  const file = await readHeaders({ ...HEADER_BOUNDS, input: path, tools, signal });
  if (file === null) return refused(NOT_MEDIA);
  const reason = reasonToRefuse(file);
  if (reason !== null) return refused(reason);
  const seconds =
    claimedSeconds(file, sizeBytes) ??
    (await walkPackets({ ...WALK_BOUNDS, input: path, tools, signal })) ??
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

async function readHeaders(bounds: RunBounds): Promise<ProbedFile | null> {
  const entries = [
    'format=format_name,duration,bit_rate',
    'format_tags=major_brand',
    'stream=codec_type,codec_name,sample_rate,channels,duration,bits_per_sample',
    'stream_disposition=attached_pic',
    'stream_tags=DURATION',
  ];
  const args = [...DISTRUST, '-show_entries', entries.join(':'), '-of', 'json', ...INPUT];
  const ran = await runJailed('ffprobe', args, bounds);
  return ran?.code === 0 ? (JSON.parse(ran.stdout) as ProbedFile) : null;
}

/** The time of the last packet, for files that do not tell their length, such as those a browser records; nothing is decoded. */
async function walkPackets(bounds: RunBounds): Promise<number | null> {
  const output = ['-map', '0:a:0', '-c', 'copy', '-f', 'null', '-progress', 'pipe:1', '-'];
  const ran = await runJailed('ffmpeg', ['-nostdin', ...DISTRUST, ...INPUT, ...output], bounds);
  if (ran === null || ran.code !== 0) return null;
  const last = ran.stdout.match(/out_time_us=(\d+)/g)?.at(-1);
  return last === undefined ? null : Number(last.slice('out_time_us='.length)) / 1e6;
}
