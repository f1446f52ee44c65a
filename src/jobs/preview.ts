import type { Database } from '../db/sql.ts';
import type { Log } from '../log.ts';
import type { ClaimedJob } from './job.ts';
import { savePieces } from './piece-store.ts';
import type { PieceTranscript } from './transcript.ts';
import { joinPieces, segmentsJson } from './transcript.ts';

/** Shows a job's pieces, as they are done, to whoever watches the job from any process. */
export type Preview = {
  /** Never waits and never fails: the job does not depend on being watched. */
  add(piece: PieceTranscript, progress: number): void;
  /** Resolves when nothing is being written any more. */
  close(): Promise<void>;
};

// What waits for the database is bounded by the longest audio; so much of it goes in one statement.
const PIECES_PER_WRITE = 100;

/** Writes one batch at a time; what a database that is away did not take goes with the next piece. */
export function openPreview(job: ClaimedJob, { db, log }: { db: Database; log: Log }): Preview {
  const unsaved: string[] = [];
  let saved = 0;
  let progress = 0;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (unsaved.length > 0) {
      const pieces = unsaved.slice(0, PIECES_PER_WRITE);
      await savePieces(db, job, { firstNumber: saved, pieces, progress });
      unsaved.splice(0, pieces.length);
      saved += pieces.length;
    }
  }

  return {
    add(piece, newProgress) {
      unsaved.push(segmentsJson(joinPieces([piece]), job.wordTimes));
      progress = newProgress;
      writing ??= write()
        .catch((cause: unknown) => log.warn({ job_id: job.id, err: cause }, 'could not show the progress of a job'))
        .finally(() => {
          writing = null;
        });
    },
    close: async () => void (await writing),
  };
}
