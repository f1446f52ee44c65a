import { useQuery } from '@tanstack/react-query';
import type { Node, Overview } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { EngineName } from '../../operator/engine-name.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import { waitOf } from './wait-of.ts';

const REFRESH_MS = 5_000;

/** What runs and waits, over all accounts. */
export default function OperatorView() {
  const overview = useQuery({
    queryKey: ['operator', 'overview'],
    queryFn: ({ signal }) => operator.overview({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const nodes = useQuery({
    queryKey: ['operator', 'nodes'],
    queryFn: ({ signal }) => operator.nodes({ signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Overview">
      <Query of={overview}>
        {(found) => (
          <>
            <Figures overview={found} />
            <Engines engines={found.engines} />
          </>
        )}
      </Query>
      <Section title="Nodes">
        <Query of={nodes}>
          {(found) => <Table label="Nodes" rows={found} keyOf={({ id }) => id} columns={NODE_COLUMNS} />}
        </Query>
      </Section>
    </Page>
  );
}

function Figures({ overview: { now, version, accounts, jobs, deliveries, webhooks, nodes } }: { overview: Overview }) {
  const link = (href: string, text: number) => (
    <a key={href} href={href}>
      {text}
    </a>
  );
  return (
    <Section title="Now">
      <Facts
        rows={[
          ['Jobs queued', link('#/operator/jobs?status=queued', jobs.queued)],
          ['Oldest queued job', waitOf(jobs.queued, jobs.oldest_queued_seconds)],
          ['Jobs processing', link('#/operator/jobs?status=processing', jobs.processing)],
          ['Deliveries due', deliveries.due],
          ['Oldest due delivery', waitOf(deliveries.due, deliveries.oldest_due_seconds)],
          ['Webhooks active', webhooks.active],
          ['Webhooks disabled', link('#/operator/webhooks?active=false', webhooks.disabled)],
          ['Accounts', link('#/operator/accounts', accounts)],
          ['Nodes alive', nodes.alive],
          ['Nodes not ready', nodes.not_ready],
          ['Version', version],
          ['As of', <Time key="now" at={now} exact />],
        ]}
      />
    </Section>
  );
}

const NODE_COLUMNS: Column<Node>[] = [
  {
    head: 'Node',
    cell: ({ id, host }) => (
      <span>
        <code>{id}</code> <small>{host}</small>
      </span>
    ),
  },
  { head: 'State', cell: (node) => <NodeState node={node} /> },
  { head: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { head: 'Version', cell: ({ version }) => version },
  { head: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
  { head: 'Seen', cell: ({ seen_at }) => <Time at={seen_at} /> },
];

function NodeState({ node: { alive, ready, reasons } }: { node: Node }) {
  if (!alive) return <Badge tone="neutral">gone</Badge>;
  if (ready) return <Badge>ready</Badge>;
  return (
    <span>
      <Badge tone="bad">not ready</Badge> <small>{reasons.join(' ')}</small>
    </span>
  );
}

function Engines({ engines }: { engines: Overview['engines'] }) {
  return (
    <Section title="Engines">
      {engines.length === 0 ? (
        <Empty title="No transcriber has reported an engine yet" command="models list" />
      ) : (
        <Table
          label="Engines of the plans"
          rows={engines}
          keyOf={({ plan }) => plan}
          columns={[
            { head: 'Plan', cell: ({ plan }) => plan },
            { head: 'Engine', cell: (row) => <EngineName {...row} /> },
            { head: 'Languages', cell: ({ languages }) => (languages === null ? 'any' : languages.join(', ')) },
            { head: 'Features', cell: ({ features }) => features.join(', ') || '–' },
            { head: 'Licence', cell: ({ licence }) => licence ?? 'unknown' },
          ]}
        />
      )}
    </Section>
  );
}
