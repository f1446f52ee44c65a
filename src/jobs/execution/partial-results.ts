import type { Runtime } from '../../db/runtime.ts';
import type { Segment } from '../../engines/engine.ts';
import type { ClaimedJob } from '../job.ts';
import { savePieces } from '../queue/piece-store.ts';
import { segmentsJson } from '../transcript.ts';

/** Stores the segments of a job's pieces while the job is processed, for its event streams. */
export type PartialResults = {
  /** Never waits and never fails: the job does not depend on its event streams. */
  add(segments: readonly Segment[], reached: { progress: number; transcribedUnits: number }): void;
  /** Resolves when no write is under way. */
  close(): Promise<void>;
};

// Bounds one statement. The number of unsaved pieces is bounded by the longest audio.
const PIECES_PER_WRITE = 100;

/** Writes one batch at a time. Pieces that could not be written are written with the next piece. */
export function openPartialResults(job: ClaimedJob, { db, log }: Runtime): PartialResults {
  const unsaved: { segments: string; transcribedUnits: number }[] = [];
  let saved = 0;
  let progress = 0;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (unsaved.length > 0) {
      const batch = unsaved.slice(0, PIECES_PER_WRITE);
      const pieces = batch.map(({ segments }) => segments);
      const { transcribedUnits } = batch.at(-1)!;
      await savePieces(db, job, { firstNumber: saved, pieces, progress, transcribedUnits });
      unsaved.splice(0, batch.length);
      saved += batch.length;
    }
  }

  return {
    add(segments, reached) {
      unsaved.push({
        segments: segmentsJson({ segments }, job.wordTimes),
        transcribedUnits: reached.transcribedUnits,
      });
      progress = reached.progress;
      writing ??= write()
        .catch((cause: unknown) => log.warn({ job_id: job.id, err: cause }, 'could not store partial results'))
        .finally(() => {
          writing = null;
        });
    },
    close: async () => void (await writing),
  };
}
