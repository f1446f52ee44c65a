import type { api } from '../../api/client.ts';
import { useFilters } from '../../app/filters.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DetailsTab } from './tabs/details-tab.tsx';
import { EventsTab } from './tabs/events-tab.tsx';
import { JsonTab } from './tabs/json-tab.tsx';
import { MetadataTab } from './tabs/metadata-tab.tsx';
import { Warnings } from './warnings.tsx';

/** A job as the SDK gives it. */
export type ApiJob = Awaited<ReturnType<typeof api.jobs.get>>;

/** A job that failed or was canceled: why, and what it was. */
export function EndedJob({ job }: { job: ApiJob }) {
  const [filters, setFilters] = useFilters();
  return (
    <>
      {job.error && (
        <section className="notice problem" aria-label="Why the job failed">
          <p>{job.error.message}</p>
          <p className="details">
            <code>{job.error.type}</code> {job.error.reason && <code>{job.error.reason}</code>}
          </p>
        </section>
      )}
      <Warnings warnings={job.warnings} />
      <Tabs label="Job" tabs={jobTabs(job)} chosen={filters['tab']} onChoose={(tab) => setFilters({ tab })} />
    </>
  );
}

/** The tabs of every job that has ended. */
export function jobTabs(job: ApiJob) {
  return [
    { name: 'details', label: 'Details', content: <DetailsTab job={job} /> },
    { name: 'metadata', label: 'Metadata', content: <MetadataTab text={job.metadataText} /> },
    { name: 'events', label: 'Events and deliveries', content: <EventsTab id={job.id} /> },
    { name: 'json', label: 'JSON', content: <JsonTab job={job} /> },
  ];
}
