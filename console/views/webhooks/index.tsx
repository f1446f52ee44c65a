import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Webhook, WebhookWithSecret } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useAccount, webhooksQuery } from '../../api/queries.ts';
import { Bars } from '../../charts/bars.tsx';
import { AttemptLink } from '../../deliveries/attempt-table.tsx';
import { percent, totalsOf } from '../../deliveries/metrics.ts';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { WebhookForm } from '../../deliveries/webhook-form.tsx';
import { webhookMetricsQuery } from '../../deliveries/webhook-metrics.ts';
import { CutUrl } from '../../parts/cut-url.tsx';
import { preferences } from '../../session/preferences.ts';
import { useStore } from '../../session/store.ts';
import { milliseconds } from '../../text/format.ts';
import { exactTime } from '../../text/times.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { type Column, Table, TableSkeleton } from '../../ui/table/table.tsx';

const METRICS_STALE_MS = 60_000;

/** All webhooks, each with its last day. */
export default function WebhooksView() {
  const webhooks = useQuery(webhooksQuery);
  const { data: account } = useAccount();
  const mayWrite = useMayWrite();
  const count = webhooks.data?.data.length;
  const allowed = account?.limits.webhooks;
  return (
    <Page title="Webhooks" actions={mayWrite && <NewWebhook onCreated={() => webhooks.refetch()} />}>
      <Query of={webhooks} skeleton={<TableSkeleton columns={COLUMNS} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No webhooks yet" command="webhooks create https://hooks.example.com/verbatim">
              <p>A webhook is a URL of your server. Verbatim sends the events of your account to it.</p>
            </Empty>
          ) : (
            <Table label="Webhooks" rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Query>
      {allowed !== undefined && count !== undefined && (
        <p className="hint">
          {count} of {allowed} webhooks used, disabled ones included.
        </p>
      )}
    </Page>
  );
}

const COLUMNS: Column<Webhook>[] = [
  {
    head: 'URL',
    cell: ({ id, url, description }) => (
      <>
        <a className="url" href={`#/webhooks/${id}`}>
          <CutUrl url={url} />
        </a>
        {description && <small>{description}</small>}
      </>
    ),
  },
  { head: 'State', width: 10, phone: 'side', cell: (webhook) => <State webhook={webhook} /> },
  { head: 'Last 24 hours', width: 18, cell: (webhook) => <Day webhook={webhook} /> },
  { head: 'Events', width: 9, phone: 'hidden', cell: ({ events }) => <small>{events.join(', ')}</small> },
  { head: 'Last delivery', width: 12.5, phone: 'hidden', cell: (webhook) => <LastDelivery id={webhook.id} /> },
];

function State({ webhook: { active, consecutive_failures, disabled_reason } }: { webhook: Webhook }) {
  if (!active) return <Badge tone="bad">{disabled_reason === 'manual' ? 'disabled' : 'disabled after failures'}</Badge>;
  if (consecutive_failures === 0) return <Badge>active</Badge>;
  return <Badge tone="wait">{`${consecutive_failures} failed in a row`}</Badge>;
}

function Day({ webhook: { id, url } }: { webhook: Webhook }) {
  const { utc } = useStore(preferences);
  const metrics = useQuery({
    ...webhookMetricsQuery(id, '24h'),
    staleTime: METRICS_STALE_MS,
  });
  if (!metrics.data) return metrics.error ? 'not available' : null;
  const buckets = metrics.data.data;
  const { attempts, failed, successRate, highestP95Ms } = totalsOf(buckets);
  if (attempts === 0) return <span className="soft">no attempts</span>;
  return (
    <div className="day">
      {buckets.filter((bucket) => bucket.attempts > 0).length > 1 && (
        <Bars
          label={`Attempts to ${url} per hour: ${attempts}, of which ${failed} failed`}
          values={buckets.map((bucket) => bucket.attempts)}
          bad={buckets.map((bucket) => bucket.failed)}
          titles={buckets.map(({ start }) => exactTime(start, utc))}
        />
      )}
      <small>
        {percent(successRate)} succeeded,{' '}
        <span title="95th percentile of the duration, in the slowest hour">p95 {milliseconds(highestP95Ms)}</span>
      </small>
    </div>
  );
}

function LastDelivery({ id }: { id: string }) {
  const last = useQuery({
    queryKey: ['deliveries', id, 'last'],
    queryFn: async ({ signal }) => await api.webhooks.deliveries(id, { limit: 1 }, { signal }),
  });
  const entry = last.data?.data[0];
  return entry ? <AttemptLink entry={entry} /> : '–';
}

function NewWebhook({ onCreated }: { onCreated: () => unknown }) {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<WebhookWithSecret | null>(null);
  const close = () => {
    setOpen(false);
    setCreated(null);
  };
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New webhook
      </Button>
      <Dialog isOpen={isOpen} title="New webhook" onClose={close}>
        {created ? (
          <>
            <Secret
              title="The secret"
              value={created.secret}
              hint="Copy it now: it is not shown again. Your server verifies the signatures of deliveries with it."
            />
            <div className="actions">
              <a className="button primary" href={`#/webhooks/${created.id}?tab=test`} onClick={close}>
                Send an example
              </a>
              <Button onClick={close}>Close</Button>
            </div>
          </>
        ) : (
          <WebhookForm
            submitLabel="Create"
            save={async (fields) => {
              setCreated(await api.webhooks.create(fields));
              onCreated();
            }}
          />
        )}
      </Dialog>
    </>
  );
}
