import { parentPort } from 'node:worker_threads';
import type { InputAudioTrack, InputFormat } from 'mediabunny';
import { FilePathSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';
import { CHANNELS_MAX, SAMPLE_RATE_MAX_HZ, SAMPLE_RATE_MIN_HZ } from './ffprobe-answer.ts';
import type { Glance, GlanceAnswer, GlanceQuestion } from './header-probe.ts';

// Run as a thread by glance.ts. No playlists: they would lead to other files.
const FORMATS = [WAVE, MP3, MP4, QTFF, OGG, WEBM, MATROSKA, FLAC];
const CACHE_MAX_BYTES = 4 * 1024 * 1024;

/** Named as formatName in probed-file.ts names them. */
const NAMES = new Map<InputFormat, { sound: string; film: string }>([
  [WAVE, { sound: 'wav', film: 'wav' }],
  [MP3, { sound: 'mp3', film: 'mp3' }],
  [MP4, { sound: 'm4a', film: 'mp4' }],
  [QTFF, { sound: 'mov', film: 'mov' }],
  [OGG, { sound: 'ogg', film: 'ogg' }],
  [WEBM, { sound: 'webm', film: 'webm' }],
  [MATROSKA, { sound: 'mka', film: 'mkv' }],
  [FLAC, { sound: 'flac', film: 'flac' }],
]);

parentPort!.on('message', async ({ id, path }: GlanceQuestion) => {
  const glance = await look(path).catch(() => null);
  parentPort!.postMessage({ id, glance } satisfies GlanceAnswer);
});

async function look(path: string): Promise<Glance | null> {
  const source = new FilePathSource(path, { maxCacheSize: CACHE_MAX_BYTES, handleUnhandledError: () => undefined });
  using input = new Input({ formats: FORMATS, source });
  const name = NAMES.get(await input.getFormat());
  // The first one, as ffmpeg is told to decode it.
  const [track] = await input.getAudioTracks();
  if (name === undefined || track === undefined || !(await isOrdinary(track))) return null;
  // Matroska says how long the whole film is: its sound may end before.
  const claimed = name.film === name.sound || name.film === 'mp4' ? await track.getDurationFromMetadata() : null;
  const seconds = claimed ?? (await track.computeDuration());
  if (!(seconds > 0 && Number.isFinite(seconds))) return null;
  const films = await input.getVideoTracks();
  return { format: films.length > 0 ? name.film : name.sound, seconds };
}

/** Whatever is not is refused with reasons, by whoever reads what ffprobe says of it. */
async function isOrdinary(track: InputAudioTrack): Promise<boolean> {
  const [codec, rate, channels] = [
    await track.getCodec(),
    await track.getSampleRate(),
    await track.getNumberOfChannels(),
  ];
  return (
    codec !== null &&
    rate >= SAMPLE_RATE_MIN_HZ &&
    rate <= SAMPLE_RATE_MAX_HZ &&
    channels >= 1 &&
    channels <= CHANNELS_MAX
  );
}
