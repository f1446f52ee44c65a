import { useQuery } from '@tanstack/react-query';
import type { Setting } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { FilterSelect, Filters, FilterText, useFilters } from '../../app/filters.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';

const COLUMNS: Column<Setting>[] = [
  { head: 'Setting', width: 20, wraps: true, cell: ({ name }) => <code>{name}</code> },
  { head: 'Value', width: 14, wraps: true, cell: ({ value }) => <code>{showValue(value)}</code> },
  {
    head: 'Source',
    width: 5.5,
    phone: 'side',
    cell: ({ is_default }) => (is_default ? 'default' : <Badge tone="wait">set</Badge>),
  },
  { head: 'Meaning', wraps: true, cell: ({ meaning }) => <span className="soft">{meaning}</span> },
];

/** The settings of the node that answers, as it has read them. */
export default function SettingsView() {
  const [{ source = '', text = '' }] = useFilters();
  const settings = useQuery({
    queryKey: ['operator', 'settings'],
    queryFn: ({ signal }) => operator.settings({ signal }),
  });
  const isShown = ({ name, meaning, is_default }: Setting) =>
    `${name} ${meaning}`.toLowerCase().includes(text.toLowerCase()) &&
    (source === '' || is_default === (source === 'default'));
  return (
    <Page title="Settings">
      <p>The environment variables that the node which answered has read at its start. Secrets are hidden.</p>
      <Filters>
        <FilterText name="text" label="Search" />
        <FilterSelect name="source" label="Source" values={['set', 'default']} />
      </Filters>
      <Query of={settings}>
        {(found) => {
          const rows = found.filter(isShown);
          return rows.length === 0 ? (
            <Empty title="No settings match these filters." />
          ) : (
            <Table label="Settings" rows={rows} keyOf={({ name }) => name} columns={COLUMNS} />
          );
        }}
      </Query>
    </Page>
  );
}

function showValue(value: unknown): string {
  const text = value === null ? '' : String(value);
  return text === '' ? 'not set' : text;
}
