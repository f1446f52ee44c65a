import { type Peaks, peaksOfSamples } from './peaks.ts';

// Enough for a waveform: half an hour takes 58 MB for each channel.
const SAMPLE_RATE = 8_000;
const POINTS = 2_000;
const LENGTH_WAIT_MS = 5_000;

/** The length of audio in seconds, as the browser reads it; NaN where it cannot. */
export function lengthOf(url: string): Promise<number> {
  const media = new Audio();
  media.preload = 'metadata';
  const { promise, resolve } = Promise.withResolvers<number>();
  const timer = setTimeout(() => resolve(Number.NaN), LENGTH_WAIT_MS);
  media.addEventListener('loadedmetadata', () => resolve(media.duration));
  media.addEventListener('error', () => resolve(Number.NaN));
  media.src = url;
  return promise.finally(() => {
    clearTimeout(timer);
    media.removeAttribute('src');
    media.load();
  });
}

/** The waveform of a file, decoded in the browser; null where that cannot be done. */
export async function peaksOfFile(file: Blob): Promise<Peaks | null> {
  try {
    const context = new OfflineAudioContext(1, 1, SAMPLE_RATE);
    const audio = await context.decodeAudioData(await file.arrayBuffer());
    const channels = Array.from({ length: audio.numberOfChannels }, (_, at) => audio.getChannelData(at));
    return peaksOfSamples(channels, POINTS);
  } catch {
    return null;
  }
}
