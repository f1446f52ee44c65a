import type { ReactNode } from 'react';
import type { JobInList } from '#sdk/wire.ts';
import { useFilters } from '../../app/filters.tsx';
import { JobState, jobName } from '../../parts/job-state.tsx';
import { JobText } from '../../parts/job-text.tsx';
import { TagLinks } from '../../parts/tag-links.tsx';
import { clockTime } from '../../text/format.ts';
import { Credits } from '../../ui/credits.tsx';
import { type Column, type Selection, Table } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

export const COLUMNS: readonly Column<JobInList>[] = [
  {
    head: 'Name',
    cell: (job) => <Name job={job} />,
  },
  { head: 'Status', width: 9, phone: 'side', cell: (job) => <JobState job={job} /> },
  { head: 'Text', phone: 'hidden', cell: (job) => <JobText job={job} /> },
  {
    head: 'Model',
    width: 9,
    phone: 'hidden',
    cell: ({ model, plan }) => <span className="soft">{model ?? plan}</span>,
  },
  {
    head: 'Length',
    width: 5,
    isNumber: true,
    cell: ({ audio }) => (audio.duration_seconds === null ? '–' : clockTime(audio.duration_seconds)),
  },
  {
    head: 'Cost',
    width: 5,
    isNumber: true,
    phone: 'hidden',
    cell: ({ cost }) => <Credits of={cost} />,
  },
  { head: 'Created', width: 7, cell: (job) => <Time at={job.created_at} /> },
];

/** The jobs of a list, each with a box. */
export function JobsTable({ jobs, selection }: { jobs: readonly JobInList[]; selection: Selection }) {
  const keyOf = ({ id }: JobInList) => id;
  return <Table label="Jobs" rows={jobs} keyOf={keyOf} nameOf={jobName} columns={COLUMNS} selection={selection} />;
}

/** Nodes of an earlier release give no tags. */
function Name({ job }: { job: JobInList }) {
  const link = (
    <a href={`#/jobs/${job.id}`} dir="auto">
      {jobName(job)}
    </a>
  );
  const { tags = [] } = job;
  return tags.length === 0 ? link : <Tagged tags={tags}>{link}</Tagged>;
}

function Tagged({ tags, children }: { tags: readonly string[]; children: ReactNode }) {
  const [filters] = useFilters();
  return (
    <div className="tagged">
      {children}
      <TagLinks tags={tags} filters={filters} />
    </div>
  );
}
