import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import {
  type AudioCodec,
  BufferSource,
  FilePathSource,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputFormat,
  MATROSKA,
  MP3,
  MP4,
  OGG,
  QTFF,
  WAVE,
  WEBM,
} from 'mediabunny';
import { type AudioTrack, audioTrack } from '../../rules/channels/audio-tracks.ts';
import { CHANNELS_MAX, SAMPLE_RATE_MAX_HZ, SAMPLE_RATE_MIN_HZ } from './ffprobe-answer.ts';
import type { HeaderRequest, HeaderResponse, MediaHeader, ProbedMedia } from './header-probe.ts';

// The worker thread of header-probe.ts. Playlist formats are left out: they refer to other files.
const FORMATS = [WAVE, MP3, MP4, QTFF, OGG, WEBM, MATROSKA, FLAC];
const CACHE_MAX_BYTES = 4 * 1024 * 1024;

/** The same names as `formatName` of ffprobe-answer.ts gives. */
const NAMES = new Map<InputFormat, { audio: string; video: string }>([
  [WAVE, { audio: 'wav', video: 'wav' }],
  [MP3, { audio: 'mp3', video: 'mp3' }],
  [MP4, { audio: 'm4a', video: 'mp4' }],
  [QTFF, { audio: 'mov', video: 'mov' }],
  [OGG, { audio: 'ogg', video: 'ogg' }],
  [WEBM, { audio: 'webm', video: 'webm' }],
  [MATROSKA, { audio: 'mka', video: 'mkv' }],
  [FLAC, { audio: 'flac', video: 'flac' }],
]);

/** The names of codecs that ffmpeg calls otherwise. */
const FFMPEG_CODECS: Partial<Record<AudioCodec, string>> = {
  'pcm-s16': 'pcm_s16le',
  'pcm-s16be': 'pcm_s16be',
  'pcm-s24': 'pcm_s24le',
  'pcm-s24be': 'pcm_s24be',
  'pcm-s32': 'pcm_s32le',
  'pcm-s32be': 'pcm_s32be',
  'pcm-f32': 'pcm_f32le',
  'pcm-f32be': 'pcm_f32be',
  'pcm-f64': 'pcm_f64le',
  'pcm-f64be': 'pcm_f64be',
  'pcm-u8': 'pcm_u8',
  'pcm-s8': 'pcm_s8',
  ulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
};

// The parser warns of what it finds in a stranger's file: that must reach neither the log nor the operator's terminal.
globalThis.console = new Console(new Writable({ write: (_chunk, _encoding, done) => done() }));

parentPort!.on('message', async (media: HeaderRequest) => {
  const header = await readHeader(media).catch(() => null);
  parentPort!.postMessage(header satisfies HeaderResponse);
});

async function readHeader(media: ProbedMedia): Promise<MediaHeader | null> {
  using input = new Input({ formats: FORMATS, source: openSource(media) });
  const name = NAMES.get(await input.getFormat());
  const [track, ...others] = await input.getAudioTracks();
  // Which of several tracks ffmpeg counts as the first, ffprobe knows.
  if (name === undefined || track === undefined || others.length > 0 || !(await isWithinLimits(track))) return null;
  // The duration in Matroska metadata is that of the whole video: the audio may end earlier. That of an MP3 file is
  // guessed from the bit rate of its first frame.
  const isStated = name.audio !== 'mp3' && (name.video === name.audio || name.video === 'mp4');
  const claimed = isStated ? await track.getDurationFromMetadata() : null;
  const seconds = claimed ?? (await track.computeDuration());
  if (!(seconds > 0 && Number.isFinite(seconds))) return null;
  const videoTracks = await input.getVideoTracks();
  return { format: videoTracks.length > 0 ? name.video : name.audio, seconds, track: await describe(track) };
}

async function describe(track: InputAudioTrack): Promise<AudioTrack> {
  const codec = (await track.getCodec())!;
  return audioTrack(0, {
    language: await track.getLanguageCode(),
    title: (await track.getName()) ?? '',
    codec: FFMPEG_CODECS[codec] ?? codec,
    channels: await track.getNumberOfChannels(),
    isDefault: true,
  });
}

function openSource(media: ProbedMedia): BufferSource | FilePathSource {
  if ('bytes' in media) return new BufferSource(media.bytes);
  return new FilePathSource(media.path, { maxCacheSize: CACHE_MAX_BYTES, handleUnhandledError: () => undefined });
}

/** Other tracks go to ffprobe, whose answer leads to a refusal with a reason. */
async function isWithinLimits(track: InputAudioTrack): Promise<boolean> {
  const codec = await track.getCodec();
  const rateHz = await track.getSampleRate();
  const channels = await track.getNumberOfChannels();
  return (
    codec !== null &&
    rateHz >= SAMPLE_RATE_MIN_HZ &&
    rateHz <= SAMPLE_RATE_MAX_HZ &&
    channels >= 1 &&
    channels <= CHANNELS_MAX
  );
}
