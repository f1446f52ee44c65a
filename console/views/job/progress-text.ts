import { clockTime } from '../../text/format.ts';
import type { LiveJob } from './live-job.ts';

/** What is known of an open job while it runs. */
export type Running = {
  live: Pick<LiveJob, 'status' | 'queuePosition' | 'progress'>;
  /** Null while it is not known. */
  audioSeconds: number | null;
  /** Since the job started; null while it waits. */
  elapsedSeconds: number | null;
};

const MIN_ELAPSED_SECONDS = 2;

/** What the job does now, and how far it is: two short texts. */
export function progressText({ live, audioSeconds, elapsedSeconds }: Running): { now: string; figures: string } {
  if (live.status === 'queued') return { now: placeOf(live.queuePosition), figures: lengthOf(audioSeconds) };
  const elapsed = elapsedSeconds ?? 0;
  const running = `running for ${clockTime(elapsed)}`;
  if (live.progress === 0) {
    return { now: 'Reading and decoding the audio', figures: join(lengthOf(audioSeconds), running) };
  }
  const percent = `${Math.floor(live.progress * 100)} %`;
  if (audioSeconds === null) return { now: `Transcribing, ${percent}`, figures: running };
  const done = live.progress * audioSeconds;
  const now = `Transcribed ${clockTime(done)} of ${clockTime(audioSeconds)}, ${percent}`;
  if (elapsed < MIN_ELAPSED_SECONDS) return { now, figures: running };
  const left = Math.ceil((elapsed * (1 - live.progress)) / live.progress);
  return { now, figures: join(`${(done / elapsed).toFixed(1)}× real time`, `about ${clockTime(left)} left`) };
}

function placeOf(position: number | null): string {
  if (position === null) return 'Waits in the queue';
  return position === 1 ? 'Next in the queue' : `Waits as number ${position} in the queue`;
}

function lengthOf(seconds: number | null): string {
  return seconds === null ? '' : `${clockTime(seconds)} of audio`;
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== '').join(', ');
}
