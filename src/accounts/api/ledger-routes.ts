import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { csvField, jsonOrCsv, jsonOrCsvAnswer } from '../../http/csv.ts';
import { decodeNumberCursor, encodeNumberCursor, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, idSchema, nullable, oneOf, pageSchema, type Static, Type, timeSchema } from '../../http/schema.ts';
import { isId } from '../../rules/ids.ts';
import { creditsFromUnits } from '../../rules/jobs/price.ts';
import { LEDGER_KINDS, type LedgerEntry, listEntries } from '../ledger/ledger-store.ts';
import { findAccount } from '../store.ts';

const EXAMPLE = {
  id: 'led_01kamz2f3q8r5t7v9wxyzabcde',
  account_id: 'acct_01kamz2f3q8r5t7v9wxyzabcde',
  number: 3,
  kind: 'capture',
  amount: 0.588,
  held: -1,
  balance: { amount: 99.588, held: 0 },
  job_id: 'job_01kamz2f3q8r5t7v9wxyzabcde',
  note: null,
  created_at: '2026-11-21T09:30:00.000Z',
};

/** A ledger entry as the API shows it, in credits. */
export const entrySchema = Type.Object(
  {
    id: idSchema('led', EXAMPLE.id),
    account_id: idSchema('acct', EXAMPLE.account_id),
    number: Type.Integer({ minimum: 1, description: "1 for the account's first entry; without gaps." }),
    kind: oneOf(LEDGER_KINDS, {
      description:
        'credit: by the operator; hold: set aside for a job; capture: the end of a hold, which took the cost of the job and gave back the rest; release: the end of a hold without a cost.',
    }),
    amount: Type.Number({ description: 'Added to what can be spent.' }),
    held: Type.Number({ description: 'Added to what is held.' }),
    balance: Type.Object({ amount: Type.Number(), held: Type.Number() }, { description: 'After the entry.' }),
    job_id: nullable(idSchema('job', EXAMPLE.job_id)),
    note: nullable(Type.String()),
    created_at: timeSchema,
  },
  component('LedgerEntry', EXAMPLE),
);

const listAnswers = { 200: jsonOrCsv(pageSchema('LedgerEntryList', entrySchema)) };
const listQuery = Type.Object({ ...pageFields, ...csvField });

/** GET /v1/ledger: the ledger of the key's account. */
export function ledgerRoute({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/ledger',
    auth: 'key',
    scope: 'usage:read',
    summary: 'List the changes of the balance, newest first, each with the balance after it',
    description: 'Empty for an unlimited account, which has no balance.',
    tag: 'Balance',
    schema: { query: listQuery, answers: listAnswers },
    handle: async ({ account, query, header }) => await answerPage(db, account, { ...query, accept: header('accept') }),
  });
}

/** GET /admin/v1/accounts/:id/ledger, for the operator. */
export function adminLedgerRoute({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts/:id/ledger',
    auth: 'admin',
    summary: "List the changes of an account's balance, newest first, each with the balance after it",
    tag: 'Accounts',
    schema: { params: Type.Object({ id: Type.String() }), query: listQuery, answers: listAnswers },
    async handle({ params: { id }, query, header }) {
      const account = isId('acct', id) ? await findAccount(db, id) : null;
      if (account === null) throw new ApiError('not_found', 'There is no such account.');
      return await answerPage(db, account, { ...query, accept: header('accept') });
    },
  });
}

async function answerPage(
  db: Sql,
  account: { shard: number; id: string },
  { limit, cursor, format, accept }: Static<typeof listQuery> & { accept: string | null },
) {
  const entries = await listEntries(db, account, { limit: limit + 1, beforeNumber: decodeNumberCursor(cursor) });
  const show = (entry: LedgerEntry) => showEntry(account.id, entry);
  const body = pageOf(entries, limit, show, ({ number }) => encodeNumberCursor(number));
  return jsonOrCsvAnswer({ format, accept }, { name: 'ledger', row: entrySchema, body });
}

/** An entry of the account's ledger as the API shows it. */
export function showEntry(accountId: string, entry: LedgerEntry): Static<typeof entrySchema> {
  return {
    id: entry.id,
    account_id: accountId,
    number: entry.number,
    kind: entry.kind,
    amount: creditsFromUnits(entry.amountChange),
    held: creditsFromUnits(entry.heldChange),
    balance: { amount: creditsFromUnits(entry.amountAfter), held: creditsFromUnits(entry.heldAfter) },
    job_id: entry.jobId,
    note: entry.note,
    created_at: entry.createdAt.toISOString(),
  };
}
