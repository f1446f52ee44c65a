import { Link } from '@tanstack/react-router';
import type { JobInList } from '#sdk/wire.ts';
import { JobState, jobName } from '../../parts/job-state.tsx';
import { clockTime, credits } from '../../text/format.ts';
import { type Column, type Selection, Table } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const SNIPPET_CHARS = 200;

const COLUMNS: readonly Column<JobInList>[] = [
  {
    head: 'File',
    isLong: true,
    cell: (job) => (
      <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
        {jobName(job)}
      </Link>
    ),
  },
  { head: 'Status', cell: (job) => <JobState job={job} /> },
  { head: 'Text', isLong: true, cell: (job) => <Snippet job={job} /> },
  {
    head: 'Length',
    isNumber: true,
    cell: ({ audio }) => (audio.duration_seconds === null ? '–' : clockTime(audio.duration_seconds)),
  },
  { head: 'Cost', isNumber: true, cell: ({ cost }) => (cost === null ? '–' : credits(cost)) },
  { head: 'Speed', isNumber: true, cell: speedOf },
  { head: 'Created', cell: (job) => <Time at={job.created_at} /> },
];

/** The jobs of a list, each with a box. */
export function JobsTable({ jobs, selection }: { jobs: readonly JobInList[]; selection: Selection }) {
  return <Table label="Jobs" rows={jobs} keyOf={({ id }) => id} columns={COLUMNS} selection={selection} />;
}

function Snippet({ job: { error, text } }: { job: JobInList }) {
  const shown = error?.message ?? text?.slice(0, SNIPPET_CHARS);
  return shown ? <span className="snippet">{shown}</span> : null;
}

/** How many seconds of audio were transcribed in a second. */
function speedOf({ status, audio, started_at, completed_at }: JobInList): string {
  if (status !== 'completed' || !started_at || !completed_at || audio.duration_seconds === null) return '–';
  const seconds = (Date.parse(completed_at) - Date.parse(started_at)) / 1_000;
  if (seconds <= 0) return '–';
  const times = audio.duration_seconds / seconds;
  return `${times < 10 ? times.toFixed(1) : Math.round(times)}×`;
}
