import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { webhookQuery, webhooksQuery } from '../../api/queries.ts';
import { useFilters, useViewParams } from '../../app/filters.tsx';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { ActionButton, ConfirmButton } from '../../ui/action-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Log } from './log.tsx';
import { Overview } from './overview.tsx';
import { Recovery } from './recovery.tsx';
import { SecretTab } from './secret-tab.tsx';
import { Settings } from './settings.tsx';
import { TestTab } from './test-tab.tsx';

const CRUMBS = [{ href: '/webhooks', label: 'Webhooks' }];

/** One webhook: how it does, its log, sending again, tests, settings and secret. */
export default function WebhookView() {
  const { webhookId = '' } = useViewParams();
  const queryClient = useQueryClient();
  const mayWrite = useMayWrite();
  const webhook = useQuery(webhookQuery(webhookId));
  const keep = (changed: Webhook) => {
    queryClient.setQueryData(webhookQuery(webhookId).queryKey, changed);
    void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
  };
  const title = webhook.data?.url ?? 'Webhook';
  const actions = mayWrite && webhook.data && <Toggle webhook={webhook.data} keep={keep} />;
  return (
    <Page title={<span className="url">{title}</span>} tabTitle={title} crumbs={CRUMBS} actions={actions}>
      <Query of={webhook}>{(found) => <WebhookTabs webhook={found} keep={keep} />}</Query>
    </Page>
  );
}

function Toggle({ webhook: { id, active }, keep }: { webhook: Webhook; keep: (changed: Webhook) => void }) {
  const set = async (wanted: boolean) => keep(await api.webhooks.update(id, { active: wanted }));
  if (!active) return <ActionButton act={() => set(true)}>Enable</ActionButton>;
  return (
    <ConfirmButton
      look="plain"
      title="Disable this webhook?"
      confirm="Disable"
      text="Waiting deliveries are dropped. New events are kept: recover them after you enable the webhook."
      act={() => set(false)}
    >
      Disable
    </ConfirmButton>
  );
}

/** The chosen tab is in the address, the filters of the log too. */
function WebhookTabs({ webhook, keep }: { webhook: Webhook; keep: (changed: Webhook) => void }) {
  const [{ tab = 'overview' }, change] = useFilters();
  const tabs = [
    { name: 'overview', label: 'Overview', content: <Overview webhook={webhook} /> },
    { name: 'log', label: 'Deliveries', content: <Log webhook={webhook} /> },
    { name: 'secret', label: 'Secret', content: <SecretTab webhook={webhook} keep={keep} /> },
    ...(useMayWrite()
      ? [
          { name: 'recover', label: 'Recover', content: <Recovery webhook={webhook} /> },
          { name: 'test', label: 'Send an example', content: <TestTab webhook={webhook} /> },
          { name: 'settings', label: 'Settings', content: <Settings webhook={webhook} keep={keep} /> },
        ]
      : []),
  ];
  return <Tabs label="Webhook" tabs={tabs} chosen={tab} onChoose={(name) => change({ tab: name })} />;
}
