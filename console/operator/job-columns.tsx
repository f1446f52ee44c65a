import type { JobSummary } from '#sdk/api.ts';
import { clockTime } from '../text/format.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';
import { AccountLink } from './account-link.tsx';
import { NodeName } from './node-name.tsx';

/** A job as the operator sees it. */
export const JOB_COLUMNS: Column<JobSummary>[] = [
  { head: 'Job', cell: ({ id }) => <code>{id}</code> },
  { head: 'Account', width: 9, cell: ({ account_id }) => <AccountLink id={account_id} /> },
  { head: 'Status', width: 10, phone: 'side', cell: (job) => <JobStatus job={job} /> },
  { head: 'Plan', width: 3.5, phone: 'hidden', cell: ({ plan }) => plan },
  {
    head: 'Length',
    width: 5,
    cell: (job) => (job.duration_seconds === null ? '–' : clockTime(job.duration_seconds)),
    isNumber: true,
  },
  { head: 'Attempts', width: 5, phone: 'hidden', cell: ({ attempts }) => attempts, isNumber: true },
  { head: 'Node', width: 6, phone: 'hidden', cell: ({ holder }) => (holder ? <NodeName holder={holder} /> : '–') },
  { head: 'Created', width: 7, cell: ({ created_at }) => <Time at={created_at} /> },
];

function JobStatus({ job: { status, progress, error_type } }: { job: JobSummary }) {
  return (
    <span>
      <Badge>{status}</Badge> {status === 'processing' && <small>{Math.floor(progress * 100)} %</small>}
      {error_type && <small>{error_type}</small>}
    </span>
  );
}
