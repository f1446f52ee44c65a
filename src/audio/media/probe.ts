import { stat } from 'node:fs/promises';
import type { ToolPaths } from '../../platform/tools.ts';
import { tooLong } from '../audio-error.ts';
import type { FileStart } from '../file-start.ts';
import { findPlainWav, plainSeconds } from '../plain-wav.ts';
import type { SandboxBounds } from '../sandbox/bounded-process.ts';
import { runSandboxed } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import type { ProbedFile } from './ffprobe-answer.ts';
import { claimedSeconds, formatName, reasonToRefuse } from './ffprobe-answer.ts';
import type { ProbedMedia } from './header-probe.ts';
import { openHeaderProbe } from './header-probe.ts';

export type ProbeResult =
  /**
   * `format` is a short name such as mp3, or unknown. `durationMs` is what the file claims, else an upper estimate; when time
   * runs out it is the length that was read so far, which may be 0.
   */
  { kind: 'audio'; format: string; durationMs: number } | { kind: 'refused'; message: string };

export type AudioOptions = { tools: ToolPaths; maxAudioSeconds: number; signal?: AbortSignal };

/** Runs work as soon as a permit is free. */
type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>;

const NOT_MEDIA = 'The file is not audio or video that can be decoded. Send wav, mp3, m4a, ogg, flac, webm or mp4.';
// Both programs together. The header probe takes up to 1 s before, so a whole probe takes up to 3 s.
const PROGRAMS_MAX_MS = 2_000;
const BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 3, stdoutMaxBytes: 256 * 1024 };
// The lowest bit rate in use for speech (AMR, Opus): it gives an upper estimate of a file's length from its size.
const LOWEST_BITS_PER_SECOND = 4750;
/** One per process; its thread starts with the first file. */
const probeHeader = openHeaderProbe();

/**
 * The format and length of a plain WAV file, or of a small file whose headers are easily read, without reading the file; null
 * for other files, which `probeAudio` reads.
 */
export async function probeStart(start: FileStart, maxAudioSeconds: number): Promise<ProbeResult | null> {
  const plain = findPlainWav(start.first(), start.sizeBytes);
  if (plain !== null) return checkLength('wav', plainSeconds(plain), maxAudioSeconds);
  const bytes = start.whole();
  return bytes === null ? null : await probeHeaders({ bytes }, maxAudioSeconds);
}

/**
 * The format and length that a file's headers claim, within 3 s; a job's price follows from the decoded length, not from this.
 * ffprobe and ffmpeg run, in the sandbox, only for files that the header probe cannot read.
 * @param path   made by this service, never by a client
 * @param limit  bounds how many programs run at once; no bound unless given
 */
export async function probeAudio(
  path: string,
  options: AudioOptions,
  limit: Limit = (work) => work(),
): Promise<ProbeResult> {
  return (await probeHeaders({ path }, options.maxAudioSeconds)) ?? (await limit(() => probeByPrograms(path, options)));
}

/** Null for files that the header probe cannot read, and for long ones: ffprobe says whether they are too long. */
async function probeHeaders(media: ProbedMedia, maxAudioSeconds: number): Promise<ProbeResult | null> {
  const header = await probeHeader(media);
  if (header === null || header.seconds > maxAudioSeconds) return null;
  return { kind: 'audio', format: header.format, durationMs: Math.ceil(header.seconds * 1000) };
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
  return checkLength(formatName(file), seconds, maxAudioSeconds);
}

function checkLength(format: string, seconds: number, maxAudioSeconds: number): ProbeResult {
  if (seconds > maxAudioSeconds) return refused(tooLong(maxAudioSeconds).message);
  return { kind: 'audio', format, durationMs: Math.ceil(seconds * 1000) };
}

function refused(message: string): ProbeResult {
  return { kind: 'refused', message };
}

type RunBounds = SandboxBounds & { wallMs: number; stdoutMaxBytes: number };

/** Null for a file that is not media. */
async function readHeaders(bounds: RunBounds): Promise<ProbedFile | 'out of time' | null> {
  const entries = [
    'format=format_name,duration,bit_rate',
    'format_tags=major_brand',
    'stream=codec_type,codec_name,sample_rate,channels,duration,bits_per_sample',
    'stream_disposition=attached_pic',
    'stream_tags=DURATION',
  ];
  const args = [...UNTRUSTED_INPUT, '-show_entries', entries.join(':'), '-of', 'json', ...INPUT];
  const ran = await runSandboxed('ffprobe', args, bounds);
  if (ran?.code === null) return 'out of time';
  return ran?.code === 0 ? (JSON.parse(ran.stdout) as ProbedFile) : null;
}

/**
 * The time in seconds of the last packet, or of the last one read when time runs out. For files whose headers lack a
 * length, such as recordings of a browser; nothing is decoded.
 */
async function walkPackets(bounds: RunBounds): Promise<number | null> {
  const output = ['-map', '0:a:0', '-c', 'copy', '-f', 'null', '-progress', 'pipe:1', '-'];
  const ran = await runSandboxed('ffmpeg', ['-nostdin', ...UNTRUSTED_INPUT, ...INPUT, ...output], bounds);
  if (ran === null || (ran.code !== 0 && ran.code !== null)) return null;
  const last = ran.stdout.match(/out_time_us=(\d+)/g)?.at(-1);
  if (last === undefined) return ran.code === null ? 0 : null;
  return Number(last.slice('out_time_us='.length)) / 1e6;
}
