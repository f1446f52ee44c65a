import type { ToolPaths } from '../../platform/tools.ts';
import {
  type AudioTrack,
  audioTrack,
  findTrack,
  listTracks,
  type TrackChoice,
  trackIndex,
} from '../../rules/channels/audio-tracks.ts';
import { fileKind } from '../../rules/file-kind.ts';
import { tooLong } from '../audio-error.ts';
import type { FileStart } from '../file-start.ts';
import { findPlainWav, HEADER_MAX_BYTES, plainSeconds, readWavHeader } from '../plain-wav.ts';
import { runSandboxed, type SandboxBounds } from '../sandbox/bounded-process.ts';
import { INPUT, UNTRUSTED_INPUT } from '../sandbox/ffmpeg-arguments.ts';
import { openAudio } from '../storage/open-audio.ts';
import { AudioGoneError, StorageAwayError } from '../storage/storage.ts';
import { lacksIndex } from './cut-off.ts';
import { audioTracks, claimedSeconds, formatName, type ProbedFile, reasonToRefuse } from './ffprobe-answer.ts';
import { openHeaderProbe, type ProbedMedia } from './header-probe.ts';
import { describeUnsized } from './unsized-samples.ts';

export type ProbeResult =
  /**
   * `format` is a short name such as mp3, or unknown. `durationMs` is what the file claims of the chosen track, else
   * the length of its packets; when time runs out it is the length that was read so far, which may be 0. It is no
   * estimate: a file is refused for its length, and its cost held, by what is certain only.
   * `tracks` are then unknown: empty.
   */
  | { kind: 'audio'; format: string; durationMs: number; tracks: AudioTrack[] }
  /** `param` names the field of the request that is at fault, if one is. */
  | { kind: 'refused'; message: string; param?: string };

export type AudioOptions = { tools: ToolPaths; maxAudioSeconds: number; signal?: AbortSignal };
/** `track` is the audio track that is to be transcribed; the first when it is null or absent. */
export type ProbeOptions = { maxAudioSeconds: number; track?: TrackChoice | null };

/** Runs work as soon as a permit is free. */
type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>;

const NOT_MEDIA = 'not audio or video that can be decoded. Send wav, mp3, m4a, ogg, flac, webm or mp4.';
const NO_SAMPLES = 'The file ends after its WAV header: it holds no sound.';
const TRACK_FIELD = 'audio_track';
// Both programs together. The header probe takes up to 1 s before, so a whole probe takes up to 3 s.
const PROGRAMS_MAX_MS = 2_000;
const BOUNDS = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 3, stdoutMaxBytes: 256 * 1024 };
/** One per process; its thread starts with the first file. */
const probeHeader = openHeaderProbe();

/** The only track of a plain WAV file. */
const PLAIN_TRACK = audioTrack(0, { codec: 'pcm_s16le', channels: 1, isDefault: true });

/**
 * The format, length and track of a plain WAV file, or of a small file whose headers are easily read, without reading
 * the file; null for other files, which `probeAudio` reads. A WAV file without samples is refused.
 */
export async function probeStart(start: FileStart, options: ProbeOptions): Promise<ProbeResult | null> {
  const first = start.first();
  const plain = findPlainWav(first, start.sizeBytes);
  if (plain !== null) {
    const refusal = refuseTrack([PLAIN_TRACK], options);
    return refusal ?? checkLength({ format: 'wav', seconds: plainSeconds(plain), tracks: [PLAIN_TRACK] }, options);
  }
  // ffprobe takes such a header for audio.
  if (readWavHeader(first)?.offset === start.sizeBytes) return refused(NO_SAMPLES);
  const bytes = start.whole();
  return bytes === null ? null : await probeHeaders({ bytes }, options);
}

/**
 * The format, length and tracks that a file's headers claim, within 3 s; a job's price follows from the decoded length,
 * not from this. ffprobe and ffmpeg run, in the sandbox, only for files that the header probe cannot read.
 * @param path   made by this service, never by a client
 * @param limit  bounds how many programs run at once; no bound unless given
 * @throws StorageAwayError  when the file, which was stored just now, cannot be read or is not there
 */
export async function probeAudio(
  path: string,
  options: AudioOptions & ProbeOptions,
  limit: Limit = (work) => work(),
): Promise<ProbeResult> {
  try {
    return (await probeHeaders({ path }, options)) ?? (await limit(() => probeByPrograms(path, options)));
  } catch (cause) {
    throw cause instanceof AudioGoneError ? new StorageAwayError(cause) : cause;
  }
}

/**
 * Null for files that the header probe cannot read, for long ones, and where a track was chosen: ffprobe says which
 * tracks there are, and whether the chosen one is too long.
 */
async function probeHeaders(
  media: ProbedMedia,
  { maxAudioSeconds, track = null }: ProbeOptions,
): Promise<ProbeResult | null> {
  if (track !== null) return null;
  const header = await probeHeader(media);
  if (header === null || header.seconds > maxAudioSeconds) return null;
  return {
    kind: 'audio',
    format: header.format,
    durationMs: Math.ceil(header.seconds * 1000),
    tracks: [header.track],
  };
}

async function probeByPrograms(path: string, options: AudioOptions & ProbeOptions): Promise<ProbeResult> {
  const { tools, signal } = options;
  const endsAtMs = performance.now() + PROGRAMS_MAX_MS;
  const bounds = () => ({ ...BOUNDS, input: path, tools, signal, wallMs: Math.max(1, endsAtMs - performance.now()) });
  const found = await readHeaders(bounds());
  if (found === 'out of time') return unreadInTime(options);
  const start = await readStart(path);
  const file = found ?? describeUnsized(start);
  const tracks = file === null ? [] : audioTracks(file);
  const kind = tracks.length > 0 ? null : fileKind(start);
  if (kind !== null) return refused(`The file is ${kind}, ${NOT_MEDIA}`);
  if (file === null && (await lacksIndex(path))) return refused('The file is incomplete: its end is missing.');
  if (file === null) return refused(`The file is ${NOT_MEDIA}`);
  const refusal = tracks.length > 0 ? refuseTrack(tracks, options) : null;
  if (refusal !== null) return refusal;
  const index = trackIndex(tracks, options.track ?? null) ?? 0;
  const reason = reasonToRefuse(file, index);
  if (reason !== null) return refused(reason);
  using stored = await openAudio(path);
  const { sizeBytes } = stored;
  const seconds = claimedSeconds(file, index, sizeBytes) ?? (await walkPackets(index, bounds())) ?? 0;
  return checkLength({ format: formatName(file), seconds, tracks }, options);
}

function checkLength(
  { format, seconds, tracks }: { format: string; seconds: number; tracks: AudioTrack[] },
  { maxAudioSeconds }: ProbeOptions,
): ProbeResult {
  if (seconds > maxAudioSeconds) return refused(tooLong(maxAudioSeconds).message);
  return { kind: 'audio', format, durationMs: Math.ceil(seconds * 1000), tracks };
}

/** The decoder decides. It cannot look for a language. */
function unreadInTime({ track }: ProbeOptions): ProbeResult {
  if (typeof track !== 'string') return { kind: 'audio', format: 'unknown', durationMs: 0, tracks: [] };
  return {
    ...refused('The languages of the audio tracks take too long to read. Choose the track by its index.'),
    param: TRACK_FIELD,
  };
}

/** Null when there is the chosen track. */
function refuseTrack(tracks: AudioTrack[], { track = null }: ProbeOptions): ProbeResult | null {
  if (findTrack(tracks, track) !== null) return null;
  const message = `The file has no audio track ${track}. Its audio tracks are: ${listTracks(tracks)}.`;
  return { ...refused(message), param: TRACK_FIELD };
}

function refused(message: string): Extract<ProbeResult, { kind: 'refused' }> {
  return { kind: 'refused', message };
}

async function readStart(path: string): Promise<Buffer> {
  using file = await openAudio(path);
  return await file.read(0, HEADER_MAX_BYTES);
}

type RunBounds = SandboxBounds & { wallMs: number; stdoutMaxBytes: number };

/** Null for a file that is not media. */
async function readHeaders(bounds: RunBounds): Promise<ProbedFile | 'out of time' | null> {
  const entries = [
    'format=format_name,start_time,duration,bit_rate',
    'format_tags=major_brand',
    'stream=codec_type,codec_name,sample_rate,channels,start_time,duration,bits_per_sample',
    'stream_disposition=attached_pic,default',
    'stream_tags=DURATION,language,title',
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
async function walkPackets(index: number, bounds: RunBounds): Promise<number | null> {
  const output = ['-map', `0:a:${index}`, '-c', 'copy', '-f', 'null', '-progress', 'pipe:1', '-'];
  const ran = await runSandboxed('ffmpeg', ['-nostdin', ...UNTRUSTED_INPUT, ...INPUT, ...output], bounds);
  if (ran === null || (ran.code !== 0 && ran.code !== null)) return null;
  const last = ran.stdout.match(/out_time_us=(\d+)/g)?.at(-1);
  if (last === undefined) return ran.code === null ? 0 : null;
  return Number(last.slice('out_time_us='.length)) / 1e6;
}
