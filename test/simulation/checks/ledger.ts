import type { Sql } from '../../../src/db/database.ts';
import { costUnits } from '../../../src/rules/jobs/price.ts';
import type { Change } from '../schema.ts';
import type { Run } from './run.ts';

/** Credits per minute of every job in the simulation. */
export const RATE = 1;

type Report = (text: string) => void;
type Entries = { id: string; holds: number; ends: number; amount: number; held: number };

/**
 * Balances are the sums of their ledgers; a job's cost is what its ledger charged, and covers all text that was
 * readable.
 */
export async function checkLedger(admin: Sql, run: Run, report: Report): Promise<void> {
  await checkBalances(admin, run, report);
  const limited = await admin.rows<{ id: string }>({ text: 'select id from accounts where not unlimited' });
  const payers = new Set(limited.map(({ id }) => id));
  const changes = Map.groupBy(
    run.changes.filter(({ what }) => what === 'job'),
    ({ before, after }) => (before ?? after).id as string,
  );
  const pieces = Map.groupBy(
    run.changes.filter(({ what }) => what === 'piece'),
    ({ after }) => after.job_id as string,
  );
  const entries = await findEntries(admin);
  for (const id of entries.keys()) if (!changes.has(id)) report(`ledger: a hold without its job, ${id}`);
  for (const [id, ofJob] of changes) {
    const { account_id: accountId, is_live: isLive } = ofJob[0]!.after;
    // The price of a live session follows from its audio: checkLive.
    if (!isLive) checkPrice(id, ofJob, pieces.get(id) ?? [], report);
    if (!payers.has(accountId)) continue;
    if (!isLive) checkHold(id, ofJob, pieces.get(id) ?? [], run, report);
    checkEntries(id, ofJob, entries.get(id), run, report);
  }
}

async function checkBalances(admin: Sql, { isOver }: Run, report: Report): Promise<void> {
  const accounts = await admin.rows<{ id: string; amount: number; held: number; sum: number; sumHeld: number }>({
    text: `select a.id, a.amount, a.held, coalesce(sum(l.amount_change), 0)::bigint as sum,
        coalesce(sum(l.held_change), 0)::bigint as "sumHeld"
      from accounts a left join ledger l on l.account_id = a.id
      group by a.id, a.amount, a.held`,
  });
  for (const { id, amount, held, sum, sumHeld } of accounts) {
    if (amount !== sum || held !== sumHeld) report(`ledger: ${id} does not sum up`);
    if (isOver && held !== 0) report(`ledger: ${id} still holds ${held}`);
  }
}

async function findEntries(admin: Sql): Promise<Map<string, Entries>> {
  const rows = await admin.rows<Entries>({
    text: `select job_id as id, count(*) filter (where kind = 'hold') as holds,
        count(*) filter (where kind in ('capture', 'release')) as ends,
        sum(amount_change)::bigint as amount, sum(held_change)::bigint as held
      from ledger where job_id is not null group by job_id`,
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * The cost in the job follows from its end state and from the pieces stored before. A piece without text has no row, or
 * one without segments: it counts by what the job says was transcribed. Speech without text is not charged.
 */
function checkPrice(id: string, changes: Change[], pieces: Change[], report: Report): void {
  const end = changes.find(({ before, after }) => before && after && !before.completed_at && after.completed_at);
  if (!end) return;
  const { state, error_type: errorType, cost_units: cost, duration_ms: durationMs } = end.after;
  const readMs = Math.max(0, ...pieces.filter(({ number }) => number < end.number).map(endMsOf));
  const isFree = errorType === 'engine_error' || errorType === 'engine_timeout';
  const read = Math.max(costUnits(readMs, RATE), ...changes.map(({ after }) => after?.transcribed_units ?? 0));
  const whole = costUnits(durationMs - untranscribedMs(end.after.warnings), RATE);
  const expected = state === 'completed' ? whole : isFree ? 0 : read;
  const how = `${state} ${errorType ?? ''}`.trim();
  if (cost !== expected) report(`prices: ${id} ended with ${how} and costs ${cost}, not ${expected}`);
}

function untranscribedMs(warnings: { code: string; start: number; end: number }[] | null): number {
  const parts = (warnings ?? []).filter(({ code }) => code === 'untranscribed');
  return parts.reduce((sum, { start, end }) => sum + Math.round((end - start) * 1000), 0);
}

/** The engine gets no audio for which no credits are held. */
function checkHold(id: string, changes: Change[], pieces: Change[], { calls }: Run, report: Report): void {
  for (const piece of pieces) {
    const call = calls[Number(/call (\d+)/.exec(piece.after.segments)?.[1])];
    if (!call) continue;
    const known = changes.filter(({ after, atMs }) => after && atMs <= call.atMs);
    const heldUnits = Math.max(0, ...known.map(({ after }) => after.held_units as number));
    const cost = costUnits(endMsOf(piece), RATE);
    if (cost > heldUnits) report(`holds: ${id} was transcribed up to ${cost} units while it held ${heldUnits}`);
  }
}

function checkEntries(
  id: string,
  changes: Change[],
  entries: Entries | undefined,
  { isOver }: Run,
  report: Report,
): void {
  if (!entries) {
    report(`ledger: ${id} was never held`);
    return;
  }
  const last = changes.findLast(({ after }) => after)!.after;
  if (entries.holds < 1) report(`ledger: ${id} was never held`);
  if (!last.completed_at && entries.held !== last.held_units) {
    report(`ledger: ${id} holds ${entries.held} units and says ${last.held_units}`);
  }
  if (!isOver) return;
  if (entries.ends !== 1) report(`ledger: the hold of ${id} ended ${entries.ends} times`);
  if (entries.held !== 0 || -entries.amount !== last.cost_units) {
    report(`ledger: ${id} took ${-entries.amount} units, still holds ${entries.held}, and says ${last.cost_units}`);
  }
}

/** The simulated engine returns one segment for the whole of each piece, or none for a silent one. */
function endMsOf({ after }: Change): number {
  const segments = JSON.parse(after.segments) as { end: number }[];
  return Math.round(1000 * (segments.at(-1)?.end ?? 0));
}
