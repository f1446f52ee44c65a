import { useFilters } from '../../app/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Ledger } from './ledger.tsx';
import { UsageOverTime } from './usage-over-time.tsx';

/** What the account used, and how its balance changed. */
export default function Usage() {
  const [filters, setFilters] = useFilters();
  return (
    <Page title="Usage">
      <Tabs
        label="Usage and ledger"
        chosen={filters['tab'] ?? 'usage'}
        onChoose={(tab) => setFilters({ tab: tab === 'usage' ? '' : tab })}
        tabs={[
          { name: 'usage', label: 'Usage', content: <UsageOverTime /> },
          { name: 'ledger', label: 'Ledger', content: <Ledger /> },
        ]}
      />
    </Page>
  );
}
