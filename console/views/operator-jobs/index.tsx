import type { JobSummary } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { FilterSelect, Filters, FilterText, useFilters } from '../../app/filters.tsx';
import { JOB_COLUMNS } from '../../operator/job-columns.tsx';
import { ListRows } from '../../parts/list-rows.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';

const PAGE = 50;
const STATUSES = ['queued', 'processing', 'completed', 'failed', 'canceled'];

/** The jobs of all accounts, without what they contain. */
export default function OperatorJobsView() {
  const [{ status = '', account_id = '' }] = useFilters();
  const query: object = { limit: PAGE, ...(status && { status }), ...(account_id && { account_id }) };
  const list = useLiveList<JobSummary>({
    key: ['operator', 'jobs', status, account_id],
    read: (cursor) => operator.jobs({ ...query, ...(cursor && { cursor }) }),
  });
  return (
    <Page title="All jobs">
      <Filters>
        <FilterSelect name="status" label="Status" values={STATUSES} />
        <FilterText name="account_id" label="Account" placeholder="acct_…" />
      </Filters>
      <ListRows
        list={list}
        label="Jobs"
        columns={JOB_COLUMNS}
        empty={<Empty title={status || account_id ? 'No jobs match these filters.' : 'No jobs yet.'} />}
      />
    </Page>
  );
}
