import { useQuery } from '@tanstack/react-query';
import type { CatalogueModel, CatalogueModelList } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { EngineName } from '../../operator/engine-name.tsx';
import { typed } from '../../text/command.ts';
import { byteSize } from '../../text/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';

const COLUMNS: Column<CatalogueModel>[] = [
  {
    head: 'Model',
    cell: ({ name, title, advice }) => (
      <span>
        <code>{name}</code> {title} <small>{advice}</small>
      </span>
    ),
  },
  { head: 'On this node', cell: ({ pulled }) => (pulled ? <Badge tone="good">pulled</Badge> : '–') },
  { head: 'Size', cell: ({ size_bytes }) => byteSize(size_bytes), isNumber: true },
  { head: 'Memory', cell: ({ memory_mb }) => `${memory_mb} MB`, isNumber: true },
  { head: 'Languages', cell: ({ languages }) => <small>{languages.join(', ')}</small> },
  { head: 'Licence', cell: ({ licence }) => licence },
];

/** The models of the catalogue and the engines in use. Models are pulled and removed on each node, by command. */
export default function ModelsView() {
  const models = useQuery({ queryKey: ['operator', 'models'], queryFn: ({ signal }) => operator.models({ signal }) });
  return (
    <Page title="Models">
      <Query of={models}>{(found) => <Models list={found} />}</Query>
    </Page>
  );
}

function Models({ list: { data, others, engines } }: { list: CatalogueModelList }) {
  return (
    <>
      <Section title="In use">
        {engines.length === 0 ? (
          <p>No transcriber has reported an engine yet.</p>
        ) : (
          <ul>
            {engines.map(({ plan, engine, quality }) => (
              <li key={plan}>
                {plan}: <EngineName engine={engine} quality={quality} />
              </li>
            ))}
          </ul>
        )}
        <p>Models are kept on each transcriber. On its machine:</p>
        <Code label="Commands" text={`${typed('models pull NAME')}\n${typed('models remove NAME')}`} />
      </Section>
      <Table label="Models of the catalogue" rows={data} keyOf={({ name }) => name} columns={COLUMNS} />
      {others.length > 0 && (
        <p>
          Other folders in <code>DATA_DIR/models</code>: {others.join(', ')}
        </p>
      )}
    </>
  );
}
