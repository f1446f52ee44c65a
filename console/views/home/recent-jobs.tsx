import type { JobInList } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { JobState, jobName } from '../../parts/job-state.tsx';
import { JobText } from '../../parts/job-text.tsx';
import { clockTime } from '../../text/format.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Query } from '../../ui/state.tsx';
import { NewRows, Table } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 5;

/** The newest jobs, with the place in the queue of those that wait. */
export function RecentJobs() {
  const list = useLiveList<JobInList>({
    key: ['jobs', 'recent'],
    read: () => api.jobs.list({ limit: SHOWN }),
    changed: (frame) => (frame.type === 'job' ? frame.data : null),
  });
  return (
    <Section
      title="Newest jobs"
      actions={
        <a href="#/jobs" className="button quiet">
          All jobs
        </a>
      }
    >
      <NewRows list={list} />
      <Query of={list}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty title="No jobs yet." command="transcribe call.mp3" />
          ) : (
            <Table
              label="Newest jobs"
              rows={jobs}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: 'Name',
                  cell: (job) => (
                    <a href={`#/jobs/${job.id}`} dir="auto">
                      {jobName(job)}
                    </a>
                  ),
                },
                { head: 'Status', width: 10, phone: 'side', cell: (job) => <JobState job={job} /> },
                { head: 'Text', phone: 'hidden', cell: (job) => <JobText job={job} /> },
                {
                  head: 'Length',
                  width: 6,
                  isNumber: true,
                  cell: ({ audio }) => (audio.duration_seconds === null ? '–' : clockTime(audio.duration_seconds)),
                },
                { head: 'Created', width: 8, cell: (job) => <Time at={job.created_at} /> },
              ]}
            />
          )
        }
      </Query>
    </Section>
  );
}
