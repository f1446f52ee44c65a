import type { Sql } from '../db/sql.ts';
import type { Account } from '../http/route.ts';
import { makeId } from '../runtime/clock.ts';

/** Whose balance moves. Unlimited accounts have no balance: nothing is written for them. */
export type Payer = Pick<Account, 'id' | 'lane' | 'unlimited'>;

export type LedgerEntry = { id: string; amountChange: number; note: string | null; createdAt: Date; amount: number };

type Move = {
  kind: 'credit' | 'hold' | 'capture' | 'release';
  amountChange: number;
  heldChange: number;
  /** The move happens only if the account's amount is at least this afterwards; null for whatever it is. */
  leastAmount: number | null;
  jobId: string | null;
  note: string | null;
};

/**
 * Sets a job's cost aside: amount → held. Concurrent holds take turns on the account's row and never overdraw it.
 * @param units  whole units (rules/price.ts), 0 or more
 * @param now    null for the database's clock
 */
export async function holdForJob(
  tx: Sql,
  { account, jobId, units, now }: { account: Payer; jobId: string; units: number; now?: Date | null },
): Promise<{ kind: 'held' } | { kind: 'short'; missingUnits: number }> {
  if (account.unlimited) return { kind: 'held' };
  const move: Move = { kind: 'hold', amountChange: -units, heldChange: units, leastAmount: 0, jobId, note: null };
  if (await enter(tx, account, move, now)) return { kind: 'held' };
  return { kind: 'short', missingUnits: Math.max(1, units - (await amountOf(tx, account))) };
}

/**
 * Takes what a job cost: the hold ends, and the difference to the true cost goes back to, or comes out of, the amount.
 * `short`: the audio was longer than its hold and the amount does not cover the rest; nothing was changed. `thereUnits` are
 * the amount and the hold.
 * Belongs in the transaction that ends the job: its fence is what keeps a hold from being taken twice.
 */
export async function captureForJob(
  tx: Sql,
  job: { account: Payer; jobId: string; heldUnits: number; costUnits: number; now?: Date | null },
): Promise<{ kind: 'captured' } | { kind: 'short'; thereUnits: number }> {
  const { account, jobId, heldUnits, costUnits, now } = job;
  if (account.unlimited) return { kind: 'captured' };
  const amountChange = heldUnits - costUnits;
  // Giving back is always right, even to an account that its operator debited below zero.
  const leastAmount = amountChange >= 0 ? null : 0;
  const move: Move = { kind: 'capture', amountChange, heldChange: -heldUnits, leastAmount, jobId, note: null };
  if (await enter(tx, account, move, now)) return { kind: 'captured' };
  return { kind: 'short', thereUnits: heldUnits + (await amountOf(tx, account)) };
}

/** Gives a job's hold back: held → amount. Belongs in the transaction that fails or cancels the job. */
export async function releaseForJob(
  tx: Sql,
  { account, jobId, heldUnits, now }: { account: Payer; jobId: string; heldUnits: number; now?: Date | null },
): Promise<void> {
  if (account.unlimited) return;
  const move: Move = {
    kind: 'release',
    amountChange: heldUnits,
    heldChange: -heldUnits,
    leastAmount: null,
    jobId,
    note: null,
  };
  if (!(await enter(tx, account, move, now))) throw new Error(`account ${account.id} of job ${jobId} is gone`);
}

/**
 * Adds to (or, below zero, takes from) what an account can spend: the operator's word, so it may overdraw. Null if there
 * is no such account, or it is unlimited.
 */
export async function addCredit(
  sql: Sql,
  { account, units, note, now }: { account: Payer; units: number; note: string | null; now?: Date | null },
): Promise<LedgerEntry | null> {
  const move: Move = { kind: 'credit', amountChange: units, heldChange: 0, leastAmount: null, jobId: null, note };
  return await enter(sql, account, move, now);
}

async function amountOf(sql: Sql, account: Payer): Promise<number> {
  const rows = await sql.rows<{ amount: number }>({
    text: 'select amount from accounts where lane = $1 and id = $2',
    values: [account.lane, account.id],
  });
  return rows[0]?.amount ?? 0;
}

/**
 * One statement moves the balance and writes why: their sums cannot part. The check constraint on `held` is the last
 * guard against a hold that is ended twice. Null when the account is gone, unlimited, or would fall under `leastAmount`.
 */
async function enter(sql: Sql, account: Payer, move: Move, now: Date | null = null): Promise<LedgerEntry | null> {
  const rows = await sql.rows<LedgerEntry>({
    name: 'enter_ledger',
    text: `
      with moved as (
        update accounts
        set amount = amount + $4, held = held + $5
        where lane = $1 and id = $2 and not unlimited and ($6::bigint is null or amount + $4 >= $6)
        returning amount
      )
      insert into ledger (lane, id, account_id, kind, amount_change, held_change, job_id, note, created_at)
      select $1, $7, $2, $3, $4, $5, $8, $9, coalesce($10::timestamptz, clock_timestamp())
      from moved
      returning id, amount_change as "amountChange", note, created_at as "createdAt", (select amount from moved) as amount`,
    values: [
      account.lane,
      account.id,
      move.kind,
      move.amountChange,
      move.heldChange,
      move.leastAmount,
      makeId('led'),
      move.jobId,
      move.note,
      now,
    ],
  });
  return rows[0] ?? null;
}
