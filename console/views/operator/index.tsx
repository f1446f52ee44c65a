import { useQuery } from '@tanstack/react-query';
import type { Node, Overview } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
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
            {found.waits.length > 0 && <Waits waits={found.waits} />}
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

function Figures({ overview: { version, accounts, jobs, deliveries, webhooks, nodes } }: { overview: Overview }) {
  return (
    <Section>
      <Facts
        rows={[
          [
            'Jobs queued',
            <Count
              key="queued"
              href="#/operator/jobs?status=queued"
              value={jobs.queued}
              note={oldest(jobs.queued, jobs.oldest_queued_seconds)}
            />,
          ],
          [
            'Jobs processing',
            <Count key="processing" href="#/operator/jobs?status=processing" value={jobs.processing} />,
          ],
          [
            'Deliveries due',
            <Count key="due" value={deliveries.due} note={oldest(deliveries.due, deliveries.oldest_due_seconds)} />,
          ],
          [
            'Webhooks',
            <Count
              key="webhooks"
              href={webhooks.disabled > 0 ? '#/operator/webhooks?active=false' : '#/operator/webhooks'}
              value={webhooks.active + webhooks.disabled}
              note={webhooks.disabled > 0 && `${webhooks.disabled} disabled`}
            />,
          ],
          ['Accounts', <Count key="accounts" href="#/operator/accounts" value={accounts} />],
          [
            'Nodes',
            <Count key="nodes" value={nodes.alive} note={nodes.not_ready > 0 && `${nodes.not_ready} not ready`} />,
          ],
          ['Version', version],
        ]}
      />
    </Section>
  );
}

function Count({ value, note, href }: { value: number; note?: string | false; href?: string }) {
  const figure = <span className="figure">{value}</span>;
  return (
    <>
      {href ? (
        <a className="figure-link" href={href}>
          {figure}
        </a>
      ) : (
        figure
      )}
      {note && <small> {note}</small>}
    </>
  );
}

function oldest(count: number, seconds: number): string | false {
  return count > 0 && `oldest waits ${waitOf(seconds)}`;
}

const NODE_COLUMNS: Column<Node>[] = [
  {
    head: 'Node',
    cell: ({ id, host }) => (
      <span>
        {host} <small>{id}</small>
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

const LACKS: Record<Overview['waits'][number]['waiting_for'], string> = {
  engine: 'the engine does not work',
  model: 'the engine has no model',
  storage: 'the storage of the audio does not answer',
};

function Waits({ waits }: { waits: Overview['waits'] }) {
  return (
    <Section title="Waiting">
      <Table
        label="Plans whose jobs wait"
        rows={waits}
        keyOf={({ plan }) => plan}
        columns={[
          { head: 'Plan', cell: ({ plan }) => plan },
          { head: 'Because', cell: ({ waiting_for }) => <Badge tone="bad">{LACKS[waiting_for]}</Badge> },
          { head: 'Since', cell: ({ since }) => <Time at={since} /> },
          { head: 'Jobs', cell: ({ jobs }) => jobs, isNumber: true },
        ]}
      />
    </Section>
  );
}

const MAX_CODES = 6;

/** @param codes  null: any */
function Languages({ codes }: { codes: readonly string[] | null }) {
  if (codes === null) return <>any</>;
  return codes.length <= MAX_CODES ? codes.join(', ') : <span title={codes.join(', ')}>{codes.length}</span>;
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
            { head: 'Engine', cell: ({ engine }) => <code>{engine}</code> },
            { head: 'Languages', cell: ({ languages }) => <Languages codes={languages} /> },
            { head: 'Features', cell: ({ features }) => features.join(', ') || '–' },
            { head: 'Licence', cell: ({ licence }) => licence ?? 'unknown' },
          ]}
        />
      )}
    </Section>
  );
}
