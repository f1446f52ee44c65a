import { holdForJob } from '../../accounts/ledger/ledger-store.ts';
import type { Database } from '../../db/database.ts';
import { costUnits, creditsToCover, creditsWithin, holdGrowthUnits } from '../../rules/jobs/price.ts';
import type { ClaimedJob } from '../job.ts';
import { lockClaimedJob, setHeldUnits } from '../queue/queue-store.ts';

export type Growth =
  | { kind: 'held'; heldUnits: number }
  /** `availableUnits` is the hold and the balance's amount together. */
  | { kind: 'short'; availableUnits: number }
  /** The job is no longer held under this claim. */
  | { kind: 'lost' };

/**
 * Grows a job's hold to `decodedUnits` if the balance covers it. Balance, ledger and job change in one transaction
 * under the job's lease. The missing units are computed from the locked row, so a retry, by this worker or after a
 * crash by the next, holds nothing twice.
 */
export async function growHold(db: Database, job: ClaimedJob, decodedUnits: number): Promise<Growth> {
  return await db.transaction(async (tx) => {
    const locked = await lockClaimedJob(tx, job);
    if (locked === null) return { kind: 'lost' };
    const { heldUnits } = locked;
    const units = holdGrowthUnits({ heldUnits, decodedUnits });
    if (units === 0) return { kind: 'held', heldUnits };
    const account = { id: job.accountId, shard: job.shard, unlimited: job.unlimited };
    const hold = await holdForJob(tx, { account, jobId: job.id, units });
    if (hold.kind === 'short') return { kind: 'short', availableUnits: decodedUnits - hold.missingUnits };
    await setHeldUnits(tx, job, decodedUnits);
    return { kind: 'held', heldUnits: decodedUnits };
  });
}

/** The balance does not cover the audio up to `decodedMs`; the message is for the client. */
export type Shortage = { decodedMs: number; message: string };

/**
 * How much of the audio is about to be transcribed.
 * @property decodedMs  its length from the start
 * @property chargedMs  the length that is charged: that of all channels together
 */
export type Decoded = { decodedMs: number; chargedMs: number };

/** Makes the hold cover the audio before more of it is transcribed; null when it does. */
export type ExtendHold = (decoded: Decoded) => Promise<Shortage | null>;

/**
 * The hold of a job that is processed. Uses the database only when more was decoded than is held, so not while the
 * length that the probe found is right.
 * @param rate  credits per minute of audio
 * @param grow  as `growHold`; never resolves with `lost`
 */
export function openHold(
  job: ClaimedJob,
  { rate, grow }: { rate: number; grow: (decodedUnits: number) => Promise<Exclude<Growth, { kind: 'lost' }>> },
): ExtendHold {
  let { heldUnits } = job;
  return async ({ decodedMs, chargedMs }) => {
    if (job.unlimited) return null;
    const decodedUnits = costUnits(chargedMs, rate);
    if (holdGrowthUnits({ heldUnits, decodedUnits }) === 0) return null;
    const growth = await grow(decodedUnits);
    if (growth.kind === 'short') return { decodedMs, message: shortageMessage(decodedMs, decodedUnits, growth) };
    heldUnits = growth.heldUnits;
    return null;
  };
}

function shortageMessage(decodedMs: number, units: number, { availableUnits }: { availableUnits: number }): string {
  return (
    `The audio is longer than its headers say: its first ${decodedMs / 1000} seconds cost ${creditsToCover(units)} ` +
    `credits and the balance holds ${creditsWithin(availableUnits)}. Add credits, send it again.`
  );
}
