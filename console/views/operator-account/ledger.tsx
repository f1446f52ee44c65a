import type { LedgerEntry } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { Credits } from '../../ui/credits.tsx';
import { Empty } from '../../ui/state.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const COLUMNS: Column<LedgerEntry>[] = [
  { head: 'Entry', width: 5, cell: ({ number }) => number },
  { head: 'Kind', width: 7, cell: ({ kind }) => kind },
  { head: 'Amount', width: 7, cell: ({ amount }) => <Credits of={amount} isSigned />, isNumber: true },
  { head: 'Held', width: 6, cell: ({ held }) => <Credits of={held} isSigned />, isNumber: true },
  { head: 'Balance after', width: 8, cell: ({ balance }) => <Credits of={balance.amount} />, isNumber: true },
  { head: 'Job or note', cell: ({ job_id, note }) => (job_id ? <code>{job_id}</code> : (note ?? '–')) },
  { head: 'Time', width: 8, phone: 'side', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Every change of the balance. */
export function Ledger({ accountId }: { accountId: string }) {
  const list = useLiveList<LedgerEntry>({
    key: ['operator', 'ledger', accountId],
    read: (cursor) => operator.accounts.ledger(accountId, { limit: 50, ...(cursor && { cursor }) }),
  });
  return <ListRows list={list} label="Ledger" columns={COLUMNS} empty={<Empty title="No entries yet" />} />;
}
