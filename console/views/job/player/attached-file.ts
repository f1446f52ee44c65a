/** The audio of a job, as the API shows it. */
export type JobAudio = { size_bytes: number | null; duration_seconds: number | null };

/** Whether a file on this computer is the audio of a job. */
export type FileCheck =
  | { kind: 'same' }
  /** Another encoding of it, as far as its length tells. */
  | { kind: 'same-length' }
  | { kind: 'other'; why: string };

// What encoders add at the start and end, and what browsers estimate of a variable rate.
const LENGTH_TOLERANCE_SECONDS = 0.5;
const LENGTH_TOLERANCE_SHARE = 0.01;
/** The waveform of longer files is not computed in the browser: the samples of an hour take 115 MB. */
export const MAX_PEAKS_SECONDS = 30 * 60;

/**
 * Compares a file with the audio of a job, by size and length.
 * @param file  its length is NaN or infinite where the browser cannot tell
 */
export function checkFile(file: { sizeBytes: number; durationSeconds: number }, audio: JobAudio): FileCheck {
  if (file.sizeBytes === audio.size_bytes) return { kind: 'same' };
  const wanted = audio.duration_seconds;
  if (wanted === null || !Number.isFinite(file.durationSeconds)) {
    return { kind: 'other', why: 'It has another size, and its length is not known.' };
  }
  const tolerance = Math.max(LENGTH_TOLERANCE_SECONDS, wanted * LENGTH_TOLERANCE_SHARE);
  if (Math.abs(file.durationSeconds - wanted) <= tolerance) return { kind: 'same-length' };
  return {
    kind: 'other',
    why: `It is ${file.durationSeconds.toFixed(1)} s long, the audio of the job ${wanted.toFixed(1)} s.`,
  };
}
