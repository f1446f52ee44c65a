import { useQuery } from '@tanstack/react-query';
import type { CatalogueModel, CatalogueModelList } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { typed } from '../../text/command.ts';
import { byteSize } from '../../text/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Pull, PullButton } from './pull.tsx';

const POLL_MS = 1_000;
const MAX_CODES = 6;

/** The models of the catalogue, the engines in use, and pulling a model onto the node that answers. */
export default function ModelsView() {
  const models = useQuery({
    queryKey: ['operator', 'models'],
    queryFn: ({ signal }) => operator.models({ signal }),
    refetchInterval: ({ state }) => (state.data?.pull?.status === 'running' ? POLL_MS : false),
  });
  return (
    <Page title="Models">
      <Query of={models}>{(found) => <Models list={found} />}</Query>
    </Page>
  );
}

function Models({ list }: { list: CatalogueModelList }) {
  const { data, others, engines, node, pull } = list;
  return (
    <>
      <Section title="In use">
        {engines.length === 0 ? (
          <p>No transcriber has reported an engine yet.</p>
        ) : (
          <Facts
            rows={engines.map(({ plan, engine }) => [`Plan ${plan}`, <code key={plan}>{engine}</code>] as const)}
          />
        )}
        <p className="hint">
          Of several models, the first in the list that knows the language of a request transcribes it; without a
          language, the first that knows several.
        </p>
      </Section>
      {pull && <Pull pull={pull} host={node.host} />}
      <Section title="Catalogue">
        {node.transcribes ? (
          <p>
            Pull downloads a model to <strong>{node.host}</strong>, the node that answered. Each node with a transcriber
            needs its own.
          </p>
        ) : (
          <>
            <p>
              <strong>{node.host}</strong>, the node that answered, does not transcribe. Pull a model on a node that
              does:
            </p>
            <Code label="Command" text={typed('models pull NAME')} />
          </>
        )}
        <Table label="Models of the catalogue" rows={data} keyOf={({ name }) => name} columns={columnsFor(list)} />
        {others.length > 0 && <p className="hint">Other folders in DATA_DIR/models: {others.join(', ')}</p>}
      </Section>
    </>
  );
}

function columnsFor({ node, pull, engines }: CatalogueModelList): Column<CatalogueModel>[] {
  return [
    {
      head: 'Model',
      cell: ({ name, advice }) => (
        <span>
          <code>{name}</code> <small>{capital(advice)}</small> <InUse plans={plansOf(name, engines)} />
        </span>
      ),
    },
    { head: 'Languages', cell: ({ languages }) => <Languages codes={languages} /> },
    {
      head: 'Word errors',
      // Figures of one set of tests can be compared, those of two cannot.
      cell: ({ wer }) =>
        wer ? (
          <span title={wer.source}>
            {wer.percent} % <small>{wer.test_set}</small>
          </span>
        ) : (
          '–'
        ),
    },
    { head: 'Size', cell: ({ size_bytes }) => byteSize(size_bytes), isNumber: true },
    { head: 'Memory', cell: ({ memory_mb }) => byteSize(memory_mb * 1e6), isNumber: true },
    { head: 'Licence', cell: ({ licence }) => licence },
    {
      head: 'On this node',
      cell: ({ name, pulled }) =>
        pulled ? (
          <Badge tone="good">pulled</Badge>
        ) : (
          node.transcribes && <PullButton name={name} isBusy={pull?.status === 'running'} />
        ),
    },
  ];
}

function plansOf(name: string, engines: CatalogueModelList['engines']): string[] {
  return engines.filter(({ engine }) => engine === name).map(({ plan }) => plan);
}

function InUse({ plans }: { plans: readonly string[] }) {
  return plans.length === 0 ? null : <Badge tone="good">{`in use on ${plans.join(', ')}`}</Badge>;
}

function Languages({ codes }: { codes: readonly string[] }) {
  if (codes.length === 0) return <>–</>;
  if (codes.length <= MAX_CODES) return <>{codes.join(', ')}</>;
  return <span title={codes.join(', ')}>{codes.length}</span>;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
