import { BlobSource, Input, MATROSKA, MP4, QTFF, WEBM } from 'mediabunny';

// Loaded when a video is chosen, 50 kB: browsers know the length of the whole video only, and the audio may end
// earlier.

/** Seconds of the first audio track of a video, as the service reads them; null where they are not known. */
export async function readAudioSeconds(file: Blob): Promise<number | null> {
  using input = new Input({ formats: [MP4, QTFF, WEBM, MATROSKA], source: new BlobSource(file) });
  const [track] = await input.getAudioTracks();
  if (!track) return null;
  const isMp4 = (await input.getFormat()) === MP4;
  // The duration in the metadata of the other formats is that of the whole video.
  return (isMp4 ? await track.getDurationFromMetadata() : null) ?? (await track.computeDuration());
}
