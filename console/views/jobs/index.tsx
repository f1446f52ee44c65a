import type { JobInList } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { useMay } from '../../api/queries.ts';
import { FilterRange } from '../../app/filter-range.tsx';
import { FilterSelect, Filters, FilterText, type FilterValues, useFilters } from '../../app/filters.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { MoreRows, NewRows, TableSkeleton, useSelection } from '../../ui/table/table.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { COLUMNS, JobsTable } from './jobs-table.tsx';

const STATES = ['queued', 'processing', 'completed', 'failed', 'canceled'] as const;
const PLANS = ['lite', 'pro'] as const;
const FILTERS = ['status', 'plan', 'created_after', 'created_before', 'query', 'tag'];
const PAGE_ROWS = 50;

/** The jobs of the account. */
export default function Jobs() {
  const [filters] = useFilters();
  const given = Object.fromEntries(Object.entries(filters).filter(([name]) => FILTERS.includes(name)));
  return (
    <Page
      title="Jobs"
      actions={
        <>
          <AsCode request={{ method: 'GET', path: '/v1/jobs', query: given, sdk: 'client.jobs.list' }} />
          {useMay('jobs:write') && (
            <a href="#/transcribe" className="button primary">
              Transcribe
            </a>
          )}
        </>
      }
    >
      <Filters>
        <FilterText name="query" label="Name or id" />
        <FilterText name="tag" label="Tag" />
        <FilterSelect name="status" label="Status" values={STATES} />
        <FilterSelect name="plan" label="Plan" values={PLANS} />
        <FilterRange after="created_after" before="created_before" />
      </Filters>
      <JobList filters={given} />
    </Page>
  );
}

function JobList({ filters }: { filters: FilterValues }) {
  const selection = useSelection();
  const list = useLiveList<JobInList>({
    key: ['jobs', filters],
    read: (cursor) => api.jobs.list({ ...filters, limit: PAGE_ROWS, ...(cursor !== null && { cursor }) }),
    changed: (frame) => (frame.type === 'job' ? frame.data : null),
    isListed: (job) => fits(job, filters),
  });
  return (
    <>
      <NewRows list={list} />
      <BulkActions jobs={list.items} selection={selection} reload={list.refetch} />
      <Query of={list} skeleton={<TableSkeleton columns={COLUMNS} />}>
        {(jobs) => (jobs.length === 0 ? <NoJobs filters={filters} /> : <JobsTable jobs={jobs} selection={selection} />)}
      </Query>
      <MoreRows list={list} />
    </>
  );
}

function NoJobs({ filters }: { filters: FilterValues }) {
  const mayWrite = useMay('jobs:write');
  if (Object.keys(filters).length > 0) return <Empty title="No jobs match these filters." />;
  if (!mayWrite) return <Empty title="No jobs yet." />;
  return <Empty title="No jobs yet. Transcribe a file here, or from a shell:" command="transcribe call.mp3" />;
}

/** Whether the API would list a new job with these filters. */
function fits(job: JobInList, { status, plan, query, tag, created_after, created_before }: FilterValues): boolean {
  return (
    (!status || job.status === status) &&
    (!plan || job.plan === plan) &&
    (!query || [job.title, job.audio.filename].some((name) => name?.toLowerCase().includes(query.toLowerCase()))) &&
    (!tag || job.tags.includes(tag)) &&
    (!created_after || job.created_at > created_after) &&
    (!created_before || job.created_at < created_before)
  );
}
