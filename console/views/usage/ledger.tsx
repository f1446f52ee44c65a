import type { LedgerEntry } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { useBalance } from '../../api/queries.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { saveFile } from '../../text/save-file.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Credits } from '../../ui/credits.tsx';
import { Empty } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { csvOf } from './csv.ts';

const PAGE_ROWS = 50;
const MAX_CSV_ROWS = 10_000;

/** Every change of the balance, newest first. */
export function Ledger() {
  const balance = useBalance().data;
  const list = useLiveList<LedgerEntry>({
    key: ['ledger'],
    read: (cursor) => api.ledger({ limit: PAGE_ROWS, ...(cursor !== null && { cursor }) }),
  });
  return (
    <>
      <p className="actions">
        <ActionButton act={downloadCsv}>Download as CSV</ActionButton>
        <AsCode request={{ method: 'GET', path: '/v1/ledger', sdk: 'client.ledger' }} />
      </p>
      <ListRows
        list={list}
        label="Ledger"
        columns={[
          { head: 'Number', width: 5.5, isNumber: true, cell: ({ number }) => number },
          { head: 'Time', width: 8, cell: (entry) => <Time at={entry.created_at} /> },
          { head: 'Kind', width: 7, cell: ({ kind }) => kind },
          { head: 'Amount', width: 7, isNumber: true, cell: ({ amount }) => <Credits of={amount} isSigned /> },
          { head: 'Held', width: 6, isNumber: true, cell: ({ held }) => <Credits of={held} isSigned /> },
          { head: 'Balance', width: 7, isNumber: true, cell: (entry) => <Credits of={entry.balance.amount} /> },
          { head: 'Job or note', cell: (entry) => <About entry={entry} /> },
        ]}
        empty={<NoEntries isUnlimited={balance?.unlimited ?? false} />}
      />
    </>
  );
}

function NoEntries({ isUnlimited }: { isUnlimited: boolean }) {
  if (isUnlimited) return <Empty title="The account is unlimited: it has no balance and no ledger." />;
  return <Empty title="No entries yet. The operator adds credits:" command="accounts credit acct_… 100" />;
}

function About({ entry: { job_id, note } }: { entry: LedgerEntry }) {
  return (
    <>
      {job_id && <a href={`#/jobs/${job_id}`}>{job_id}</a>}
      {note && <span> {note}</span>}
    </>
  );
}

async function downloadCsv(): Promise<void> {
  const entries = await api.ledger({ limit: 100 }).toArray({ limit: MAX_CSV_ROWS });
  const heads = ['number', 'created_at', 'kind', 'amount', 'held', 'balance_amount', 'balance_held', 'job_id', 'note'];
  const rows = entries.map(({ number, created_at, kind, amount, held, balance, job_id, note }) => [
    ...[number, created_at, kind, amount, held, balance.amount, balance.held, job_id, note],
  ]);
  saveFile('ledger.csv', csvOf([heads, ...rows]));
}
