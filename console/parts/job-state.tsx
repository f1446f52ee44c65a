import { useQuery } from '@tanstack/react-query';
import type { JobInList } from '#sdk/wire.ts';
import { api } from '../api/client.ts';
import { Badge } from '../ui/badge.tsx';
import { Time } from '../ui/time.tsx';

const EVERY_MS = 3_000;

/** The state of a job of a list; of an open one with its progress, or its place in the queue. */
export function JobState({ job }: { job: JobInList }) {
  const isOpen = job.status === 'queued' || job.status === 'processing';
  return <span className="job-state">{isOpen ? <OpenJob job={job} /> : <Badge>{job.status}</Badge>}</span>;
}

/** A component of its own: a query for each row of a long list would cost more than the row. */
function OpenJob({ job }: { job: JobInList }) {
  // The stream of the account has changes of the state only.
  const { data } = useQuery({
    queryKey: ['job-progress', job.id, job.status],
    queryFn: ({ signal }) => api.jobs.get(job.id, { signal }),
    refetchInterval: EVERY_MS,
  });
  const shown = data ?? { ...job, queue_position: undefined };
  const { status, progress, queue_position } = shown;
  return (
    <>
      <Badge>{status}</Badge>
      {status === 'processing' && <progress max={1} value={progress} aria-label="Progress" />}
      {status === 'queued' && queue_position !== undefined && <small>place {queue_position}</small>}
      <WaitNote wait={shown} />
    </>
  );
}

const WAITS_FOR = { engine: 'the speech engine', model: 'the speech model', storage: 'the audio storage' };

/** What a queued job waits for beside its turn, and since when; nothing where it waits for its turn only. */
export function WaitNote({ wait }: { wait: Partial<Pick<JobInList, 'waiting_for' | 'waiting_since'>> }) {
  if (!wait.waiting_for || !wait.waiting_since) return null;
  return (
    <small>
      waiting for {WAITS_FOR[wait.waiting_for]} since <Time at={wait.waiting_since} exact />
    </small>
  );
}

/** How a job is called: its title, its file, the address of its audio, or its id. */
export function jobName({ id, title, audio }: Pick<JobInList, 'id' | 'title' | 'audio'>): string {
  return title || audio.filename || audio.source || id;
}
