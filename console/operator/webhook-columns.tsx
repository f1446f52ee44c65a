import type { AccountWebhook } from '#sdk/api.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';

/** A webhook as the operator sees it. */
export const WEBHOOK_COLUMNS: Column<AccountWebhook>[] = [
  { head: 'URL', isLong: true, cell: ({ url }) => <span className="url">{url}</span> },
  {
    head: 'Account',
    cell: ({ account_id }) => (
      <a href={`#/operator/accounts/${account_id}`}>
        <code>{account_id}</code>
      </a>
    ),
  },
  { head: 'State', cell: ({ active }) => <Badge>{active ? 'active' : 'disabled'}</Badge> },
  { head: 'Why', cell: ({ disabled_reason }) => disabled_reason ?? '–' },
  { head: 'Disabled', cell: ({ disabled_at }) => <Time at={disabled_at} /> },
  { head: 'Failed in a row', cell: ({ consecutive_failures }) => consecutive_failures, isNumber: true },
  { head: 'Failing since', cell: ({ failing_since }) => <Time at={failing_since} /> },
  { head: 'Id', cell: ({ id }) => <code>{id}</code> },
];
