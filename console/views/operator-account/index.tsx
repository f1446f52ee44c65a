import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Account, AccountWebhook, JobSummary } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { useFilters, useViewParams } from '../../app/filters.tsx';
import { JOB_COLUMNS } from '../../operator/job-columns.tsx';
import { WEBHOOK_COLUMNS } from '../../operator/webhook-columns.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AccountFacts } from './account-facts.tsx';
import { Keys } from './keys.tsx';
import { Ledger } from './ledger.tsx';
import { PortalLinks } from './portal-links.tsx';
import { UsageTab } from './usage-tab.tsx';

const CRUMBS = [{ href: '/operator/accounts', label: 'Accounts' }];
const PAGE = 50;

/** One account: balance, keys, ledger, usage, jobs, webhooks, and links that open the console for it. */
export default function AccountView() {
  const { accountId = '' } = useViewParams();
  const queryClient = useQueryClient();
  const queryKey = ['operator', 'account', accountId];
  const account = useQuery({ queryKey, queryFn: ({ signal }) => operator.accounts.get(accountId, { signal }) });
  const reload = () => queryClient.invalidateQueries({ queryKey });
  return (
    <Page title={account.data?.name ?? 'Account'} crumbs={CRUMBS}>
      <Query of={account}>{(found) => <AccountTabs account={found} reload={reload} />}</Query>
    </Page>
  );
}

function AccountTabs({ account, reload }: { account: Account; reload: () => Promise<void> }) {
  const [{ tab = 'account' }, change] = useFilters();
  const { id } = account;
  const tabs = [
    { name: 'account', label: 'Account', content: <AccountFacts account={account} reload={reload} /> },
    { name: 'keys', label: 'Keys', content: <Keys accountId={id} /> },
    { name: 'ledger', label: 'Ledger', content: <Ledger accountId={id} /> },
    { name: 'usage', label: 'Usage', content: <UsageTab accountId={id} /> },
    { name: 'jobs', label: 'Jobs', content: <Jobs accountId={id} /> },
    { name: 'webhooks', label: 'Webhooks', content: <Webhooks accountId={id} /> },
    { name: 'portal', label: 'Portal links', content: <PortalLinks accountId={id} /> },
  ];
  return <Tabs label="Account" tabs={tabs} chosen={tab} onChoose={(name) => change({ tab: name })} />;
}

function Jobs({ accountId }: { accountId: string }) {
  const list = useLiveList<JobSummary>({
    key: ['operator', 'jobs', '', accountId],
    read: (cursor) => operator.jobs({ account_id: accountId, limit: PAGE, ...(cursor && { cursor }) }),
  });
  const columns = JOB_COLUMNS.filter(({ head }) => head !== 'Account');
  return <ListRows list={list} label="Jobs of the account" columns={columns} empty={<Empty title="No jobs yet" />} />;
}

function Webhooks({ accountId }: { accountId: string }) {
  const list = useLiveList<AccountWebhook>({
    key: ['operator', 'webhooks', '', accountId],
    read: (cursor) => operator.webhooks({ account_id: accountId, limit: PAGE, ...(cursor && { cursor }) }),
  });
  const columns = WEBHOOK_COLUMNS.filter(({ head }) => head !== 'Account');
  return (
    <ListRows list={list} label="Webhooks of the account" columns={columns} empty={<Empty title="No webhooks yet" />} />
  );
}
