import type { AccountWebhook } from '#sdk/api.ts';
import { CutUrl } from '../parts/cut-url.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';
import { AccountLink } from './account-link.tsx';

/** A webhook as the operator sees it. */
export const WEBHOOK_COLUMNS: Column<AccountWebhook>[] = [
  {
    head: 'URL',
    cell: ({ id, url }) => <CutUrl url={url} title={id} />,
  },
  { head: 'Account', width: 9, cell: ({ account_id }) => <AccountLink id={account_id} /> },
  { head: 'State', width: 12, phone: 'side', cell: (webhook) => <State webhook={webhook} /> },
  { head: 'Failing since', width: 7.5, cell: ({ failing_since }) => <Time at={failing_since} /> },
  { head: 'Disabled', width: 7, phone: 'hidden', cell: ({ disabled_at }) => <Time at={disabled_at} /> },
];

function State({ webhook: { active, disabled_reason, consecutive_failures } }: { webhook: AccountWebhook }) {
  if (!active) return <Badge tone="bad">{disabled_reason === 'manual' ? 'disabled' : 'disabled after failures'}</Badge>;
  if (consecutive_failures === 0) return <Badge>active</Badge>;
  return <Badge tone="wait">{`${consecutive_failures} failed in a row`}</Badge>;
}
