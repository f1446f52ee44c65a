// Only a completed job has a progress of 1.
const MAX_PROGRESS = 0.99;

/**
 * A job's progress, 0 to 0.99 in hundredths: seconds transcribed over seconds of audio. The length from the file's
 * headers counts until more than that was decoded, or the decoder came to its end. Progress never falls.
 * @param claimedSeconds  the length that the probe found
 * @param share           of the job's work that transcription is, 0 to 1
 */
export function openProgress(claimedSeconds: number, share = 1) {
  let decodedSeconds = 0;
  let isDecoded = false;
  let progress = 0;
  return {
    decoded(seconds: number) {
      decodedSeconds = seconds;
    },
    decodedAll() {
      isDecoded = true;
    },
    /** @param seconds  the end of the last piece before which all pieces are transcribed */
    transcribed(seconds: number): number {
      const wholeSeconds = isDecoded ? decodedSeconds : Math.max(decodedSeconds, claimedSeconds);
      const hundredths = Math.floor((100 * share * seconds) / Math.max(wholeSeconds, seconds, Number.MIN_VALUE));
      progress = Math.max(progress, Math.min(MAX_PROGRESS, hundredths / 100));
      return progress;
    },
    /** @param done  of the work that follows transcription, 0 to 1 */
    followed(done: number): number {
      const hundredths = Math.floor(100 * (share + (1 - share) * done));
      progress = Math.max(progress, Math.min(MAX_PROGRESS, hundredths / 100));
      return progress;
    },
  };
}
