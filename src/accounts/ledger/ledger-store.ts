import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { makeId } from '../../platform/clock.ts';
import type { Account } from '../account.ts';

/** The account whose balance changes. Unlimited accounts have no balance: nothing is written for them. */
type Payer = Pick<Account, 'id' | 'shard' | 'unlimited'>;

export const LEDGER_KINDS = ['credit', 'hold', 'capture', 'release'] as const;

/** One change of a balance, in units. `amountAfter` and `heldAfter` are the balance after it. */
export type LedgerEntry = {
  id: string;
  /** 1 for an account's first entry; in the order of the changes, without gaps. */
  number: number;
  kind: (typeof LEDGER_KINDS)[number];
  amountChange: number;
  heldChange: number;
  amountAfter: number;
  heldAfter: number;
  jobId: string | null;
  note: string | null;
  createdAt: Date;
};

const ENTRY_COLUMNS =
  'id, number, kind, amount_change, held_change, amount_after, held_after, job_id, note, created_at';
const ENTRY_VALUES = `id, number, kind, amount_change as "amountChange", held_change as "heldChange",
        amount_after as "amountAfter", held_after as "heldAfter", job_id as "jobId", note, created_at as "createdAt"`;

type Move = {
  kind: LedgerEntry['kind'];
  amountChange: number;
  heldChange: number;
  /** The move happens only if the account's amount is at least this afterwards; null for whatever it is. */
  leastAmount: number | null;
  jobId: string | null;
  note: string | null;
};

/** A job's share of its account's balance. */
type JobHold = { account: Payer; jobId: string; heldUnits: number; costUnits: number };

/**
 * CTEs of a statement on one shard: they change the balance and write the ledger entry together, so that the sums of
 * both stay equal. Nothing is changed when the account is unlimited or would fall under `$leastAmount`. The check
 * constraint on `held` rejects a hold that is ended twice.
 * The parameters' values are those of `holdValues` or `settlementValues`.
 * @param moment     SQL of the entry's time
 * @param condition  SQL: nothing is changed unless it is true
 */
export const moveUnits = ({ moment, condition = 'true' }: { moment: string; condition?: string }): string => `
      moved as (
        update accounts
        set amount = amount + $amountChange, held = held + $heldChange, ledger_number = ledger_number + 1
        where shard = $shard and id = $accountId and not unlimited
          and ($leastAmount::bigint is null or amount + $amountChange >= $leastAmount)
          and ${condition}
        returning shard, id, amount, held, ledger_number
      ), entry as (
        insert into ledger
          (shard, id, account_id, number, kind, amount_change, held_change, amount_after, held_after, job_id, note, created_at)
        select shard, $ledgerId, id, ledger_number, $ledgerKind, $amountChange, $heldChange, amount, held, $jobId, $note,
          ${moment}
        from moved
        returning ${ENTRY_COLUMNS}
      )`;

/** SQL behind `moveUnits`: whether it changed the balance. */
export const UNITS_MOVED = 'exists (select from moved)';

/**
 * SQL behind `moveUnits`, always true: a part of the statement with this condition locks its rows after the account's
 * row. PostgreSQL executes the parts of a statement in no order of its own, but one that reads another after it.
 */
export const AFTER_ACCOUNT = '(select count(*) from moved) >= 0';

const ENTER = defineStatement(
  { name: 'enter_ledger' },
  `
      with ${moveUnits({ moment: 'coalesce($now::timestamptz, clock_timestamp())' })}
      select ${ENTRY_VALUES}
      from entry`,
);

/** The values of `moveUnits` that move a job's cost from `amount` to `held`, if the balance covers it. */
export function holdValues(job: { account: Payer; jobId: string; units: number }) {
  const { account, jobId, units } = job;
  return moveValues(account, {
    kind: 'hold',
    amountChange: -units,
    heldChange: units,
    leastAmount: 0,
    jobId,
    note: null,
  });
}

/**
 * The values of `moveUnits` that end a job's hold: what the job cost is taken and the rest given back. A cost of 0 is
 * entered as a release. The condition of `moveUnits` must be that this statement ends the job:
 * so no hold is ended twice.
 * @throws Error  when the cost is more than is held: a hold grows before its job costs more
 */
export function settlementValues({ account, jobId, heldUnits, costUnits }: JobHold) {
  if (!account.unlimited && costUnits > heldUnits) {
    throw new Error(`job ${jobId} costs ${costUnits} units and holds ${heldUnits}`);
  }
  return moveValues(account, {
    kind: costUnits === 0 ? 'release' : 'capture',
    amountChange: heldUnits - costUnits,
    heldChange: -heldUnits,
    // An operator may have debited the account below zero in the meantime.
    leastAmount: null,
    jobId,
    note: null,
  });
}

/**
 * Moves more of a job's cost from `amount` to `held`, as more of its audio is decoded. Concurrent holds lock the
 * account's row one after the other and never overdraw it.
 * @param units  whole units (rules/jobs/price.ts), 0 or more
 * @param now    null for the database's clock
 */
export async function holdForJob(
  tx: Sql,
  { account, jobId, units, now = null }: { account: Payer; jobId: string; units: number; now?: Date | null },
): Promise<{ kind: 'held' } | { kind: 'short'; missingUnits: number }> {
  if (account.unlimited) return { kind: 'held' };
  const entries = await tx.rows(ENTER({ ...holdValues({ account, jobId, units }), now }));
  if (entries.length > 0) return { kind: 'held' };
  return { kind: 'short', missingUnits: await missingUnits(tx, account, units) };
}

/** Ends a job's hold, in the transaction that ends the job. @param now  null for the database's clock */
export async function settleHold(tx: Sql, job: JobHold, now: Date | null): Promise<void> {
  await tx.run(ENTER({ ...settlementValues(job), now }));
}

/** How much the account lacks of the units, at least 1: its balance may have grown since it did not cover them. */
export async function missingUnits(sql: Sql, { shard, id }: Payer, units: number): Promise<number> {
  const [row] = await sql.rows<{ amount: number }>({
    text: 'select amount from accounts where shard = $1 and id = $2',
    values: [shard, id],
  });
  return Math.max(1, units - (row?.amount ?? 0));
}

/**
 * Adds to (or, below zero, takes from) what an account can spend: an operator may overdraw it. Null if there is no
 * such account, or it is unlimited.
 */
export async function addCredit(
  sql: Sql,
  { account, units, note, now = null }: { account: Payer; units: number; note: string | null; now?: Date | null },
): Promise<LedgerEntry | null> {
  const move: Move = { kind: 'credit', amountChange: units, heldChange: 0, leastAmount: null, jobId: null, note };
  const [entry] = await sql.rows<LedgerEntry>(ENTER({ ...moveValues(account, move), now }));
  return entry ?? null;
}

/** An account's entries, newest first. @param beforeNumber  null for the first page */
export async function listEntries(
  sql: Sql,
  { shard, id }: Pick<Payer, 'shard' | 'id'>,
  { limit, beforeNumber }: { limit: number; beforeNumber: number | null },
): Promise<LedgerEntry[]> {
  return await sql.rows<LedgerEntry>({
    name: 'list_ledger',
    isBrief: true,
    text: `
      select ${ENTRY_VALUES}
      from ledger
      where shard = $1 and account_id = $2 and ($3::bigint is null or number < $3)
      order by number desc
      limit $4`,
    values: [shard, id, beforeNumber, limit],
  });
}

function moveValues({ shard, id }: Payer, { kind, ...move }: Move) {
  return { ...move, shard, accountId: id, ledgerId: makeId('led'), ledgerKind: kind };
}
