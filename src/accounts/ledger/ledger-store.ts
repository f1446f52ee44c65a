import type { Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import type { Account } from '../account.ts';

/** The account whose balance changes. Unlimited accounts have no balance: nothing is written for them. */
type Payer = Pick<Account, 'id' | 'shard' | 'unlimited'>;

type LedgerEntry = { id: string; amountChange: number; note: string | null; createdAt: Date; amount: number };

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
 * Moves a job's cost from `amount` to `held`. A job may hold several times, as more of its audio is decoded. Concurrent
 * holds lock the account's row one after the other and never overdraw it.
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
 * Ends a job's hold: takes what the job cost and gives the rest back. A cost of 0 is entered as a release.
 * Belongs in the transaction that ends the job: its fence is what keeps a hold from being ended twice.
 * @throws Error  when the cost is more than is held: a hold grows before its job costs more
 */
export async function settleJob(
  tx: Sql,
  job: { account: Payer; jobId: string; heldUnits: number; costUnits: number; now?: Date | null },
): Promise<void> {
  const { account, jobId, heldUnits, costUnits, now } = job;
  if (account.unlimited) return;
  if (costUnits > heldUnits) throw new Error(`job ${jobId} costs ${costUnits} units and holds ${heldUnits}`);
  const kind = costUnits === 0 ? 'release' : 'capture';
  const amountChange = heldUnits - costUnits;
  // No lower bound: an operator may have debited the account below zero in the meantime.
  const move: Move = { kind, amountChange, heldChange: -heldUnits, leastAmount: null, jobId, note: null };
  if (!(await enter(tx, account, move, now))) throw new Error(`account ${account.id} of job ${jobId} is gone`);
}

/**
 * Adds to (or, below zero, takes from) what an account can spend: an operator may overdraw it. Null if there is no
 * such account, or it is unlimited.
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
    text: 'select amount from accounts where shard = $1 and id = $2',
    values: [account.shard, account.id],
  });
  return rows[0]?.amount ?? 0;
}

/**
 * Changes the balance and writes the ledger entry in one statement, so that their sums stay equal. The check constraint on
 * `held` rejects a hold that is ended twice. Null when the account is deleted, unlimited, or would fall under `leastAmount`.
 */
async function enter(sql: Sql, account: Payer, move: Move, now: Date | null = null): Promise<LedgerEntry | null> {
  const rows = await sql.rows<LedgerEntry>({
    name: 'enter_ledger',
    text: `
      with moved as (
        update accounts
        set amount = amount + $4, held = held + $5
        where shard = $1 and id = $2 and not unlimited and ($6::bigint is null or amount + $4 >= $6)
        returning amount
      )
      insert into ledger (shard, id, account_id, kind, amount_change, held_change, job_id, note, created_at)
      select $1, $7, $2, $3, $4, $5, $8, $9, coalesce($10::timestamptz, clock_timestamp())
      from moved
      returning id, amount_change as "amountChange", note, created_at as "createdAt", (select amount from moved) as amount`,
    values: [
      account.shard,
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
