import type { AccountWebhook } from '#sdk/api.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';

/** A webhook as the operator sees it. */
export const WEBHOOK_COLUMNS: Column<AccountWebhook>[] = [
  { head: 'URL', cell: ({ url }) => <span className="url">{url}</span> },
  {
    head: 'Account',
    cell: ({ account_id }) => (
      <a href={`#/operator/accounts/${account_id}`}>
        <code>{account_id}</code>
      </a>
    ),
  },
  { head: 'State', width: 7, phone: 'side', cell: ({ active }) => <Badge>{active ? 'active' : 'disabled'}</Badge> },
  { head: 'Why', width: 10, cell: ({ disabled_reason }) => disabled_reason ?? '–' },
  { head: 'Disabled', width: 7, cell: ({ disabled_at }) => <Time at={disabled_at} /> },
  {
    head: 'Failed in a row',
    width: 7.5,
    phone: 'hidden',
    cell: ({ consecutive_failures }) => consecutive_failures,
    isNumber: true,
  },
  { head: 'Failing since', width: 7.5, phone: 'hidden', cell: ({ failing_since }) => <Time at={failing_since} /> },
  { head: 'Id', width: 8, phone: 'hidden', cell: ({ id }) => <code>{id}</code> },
];
