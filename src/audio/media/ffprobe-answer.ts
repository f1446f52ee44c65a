import { type AudioTrack, audioTrack, TRACKS_MAX } from '../../rules/channels/audio-tracks.ts';

/** The requested part of ffprobe's JSON output; every field may be missing, most numbers are text. */
export type ProbedFile = {
  format?: {
    format_name?: string;
    start_time?: string;
    duration?: string;
    bit_rate?: string;
    tags?: { major_brand?: string };
  };
  streams?: ProbedStream[];
};
export type ProbedStream = {
  codec_type?: string;
  codec_name?: string;
  sample_rate?: string;
  channels?: number;
  start_time?: string;
  duration?: string;
  bits_per_sample?: number;
  disposition?: { attached_pic?: number; default?: number };
  /** DURATION is the end of a Matroska track, such as 00:00:08.640000000. */
  tags?: { DURATION?: string; language?: string; title?: string };
};

// Speech lies within these limits. At a rate of 1 Hz a few kilobytes would be hours of audio.
export const SAMPLE_RATE_MIN_HZ = 4000;
export const SAMPLE_RATE_MAX_HZ = 384_000;
export const CHANNELS_MAX = 8;

/** Formats that state no length: ffprobe takes the bit rate of the start for that of the whole file. */
const GUESSED_LENGTHS = ['aac', 'ac3', 'eac3', 'amr', 'mp3'];

/** The file's audio tracks, in the order of ffmpeg's stream specifiers. */
export function audioTracks(file: ProbedFile): AudioTrack[] {
  const streams = audioStreams(file);
  return streams.slice(0, TRACKS_MAX).map((stream, index) =>
    audioTrack(index, {
      ...stream.tags,
      codec: stream.codec_name ?? 'unknown',
      channels: stream.channels ?? 0,
      // Only some formats can mark a track.
      isDefault: streams.length === 1 || stream.disposition?.default === 1,
    }),
  );
}

/** Why an audio track is refused, as a sentence for the client; null when it is accepted. */
export function reasonToRefuse(file: ProbedFile, index: number): string | null {
  const audio = audioStreams(file)[index];
  if (audio === undefined) return 'The file holds no audio track.';
  const sampleRateHz = Number(audio.sample_rate);
  const channels = audio.channels ?? 0;
  if (!audio.codec_name || channels === 0) return 'The audio track is in a form that cannot be decoded.';
  if (!(sampleRateHz >= SAMPLE_RATE_MIN_HZ && sampleRateHz <= SAMPLE_RATE_MAX_HZ)) {
    return `The sample rate must be from ${SAMPLE_RATE_MIN_HZ} to ${SAMPLE_RATE_MAX_HZ} Hz; the file says ${audio.sample_rate}.`;
  }
  if (channels > CHANNELS_MAX) return `The audio may have at most ${CHANNELS_MAX} channels; the file says ${channels}.`;
  return null;
}

/**
 * The end of an audio track in seconds after the start of the file, as the file claims it; null when it claims none.
 * A track that starts later than the file, such as after the first picture, begins with silence for a player.
 */
export function claimedSeconds(file: ProbedFile, index: number, sizeBytes: number): number | null {
  const audio = audioStreams(file)[index];
  const startSeconds = Math.max(0, Number(audio?.start_time ?? 0) - Number(file.format?.start_time ?? 0)) || 0;
  // The track's own length comes first: a video may be longer than its audio. Of FLAC in Matroska, `duration` is that
  // of the video.
  const ends = [taggedEndSeconds(audio), Number(audio?.duration) + startSeconds, Number(file.format?.duration)];
  const claimed = ends.find((seconds) => seconds > 0) ?? null;
  const bytesPerSecond = plainBytesPerSecond(audio);
  if (bytesPerSecond === null) return GUESSED_LENGTHS.includes(formatName(file)) ? null : claimed;
  // Uncompressed audio cannot be longer than the file's size allows.
  return Math.min(startSeconds + sizeBytes / bytesPerSecond, claimed ?? Number.POSITIVE_INFINITY);
}

/** A short name of the container, such as mp3, m4a or webm; the file's own name plays no part. */
export function formatName(file: ProbedFile): string {
  const [first = 'unknown', ...others] = (file.format?.format_name ?? '').split(',');
  const hasVideo = (file.streams ?? []).some(isVideo);
  if (others.includes('mp4')) return nameOfIsoFile(file.format?.tags?.major_brand ?? '', hasVideo);
  if (others.includes('webm')) return (file.streams ?? []).every(isWebmStream) ? 'webm' : hasVideo ? 'mkv' : 'mka';
  if (first === 'asf') return hasVideo ? 'wmv' : 'wma';
  return first;
}

function audioStreams(file: ProbedFile): ProbedStream[] {
  return (file.streams ?? []).filter((stream) => stream.codec_type === 'audio');
}

function taggedEndSeconds(audio: ProbedStream | undefined): number {
  const parts = /^(\d+):(\d{2}):(\d{2}(?:\.\d+)?)$/.exec(audio?.tags?.DURATION ?? '');
  return parts ? Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3]) : Number.NaN;
}

function plainBytesPerSecond(audio: ProbedStream | undefined): number | null {
  if (!audio?.codec_name?.startsWith('pcm_')) return null;
  const bytes = (Number(audio.sample_rate) * (audio.channels ?? 0) * (audio.bits_per_sample ?? 0)) / 8;
  return bytes > 0 ? bytes : null;
}

function nameOfIsoFile(brand: string, hasVideo: boolean): string {
  if (brand.startsWith('qt')) return 'mov';
  if (brand.startsWith('3g')) return '3gp';
  return hasVideo ? 'mp4' : 'm4a';
}

/** ffprobe lists a cover image as a video stream of one frame. */
function isVideo(stream: ProbedStream): boolean {
  return stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1;
}

function isWebmStream(stream: ProbedStream): boolean {
  return ['opus', 'vorbis', 'vp8', 'vp9', 'av1'].includes(stream.codec_name ?? '');
}
