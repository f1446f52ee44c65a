import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useViewParams } from '../../app/filters.tsx';
import { jobName } from '../../parts/job-state.tsx';
import { Page } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { JobActions } from './actions.tsx';
import { CompletedJob } from './completed-job.tsx';
import { EndedJob } from './ended-job.tsx';
import { LiveView } from './live-view.tsx';
import { type Editing, JobTags, JobTitle, NameButtons } from './names/job-names.tsx';

// A transcript of four hours takes some megabytes: it is not kept for long after the view is left.
const KEPT_MS = 10_000;

/** A job: live while it is open, then its transcript with the player. */
export default function JobView() {
  const { jobId = '' } = useViewParams();
  const query = useQuery({
    queryKey: ['job', jobId],
    queryFn: ({ signal }) => api.jobs.get(jobId, { signal }),
    gcTime: KEPT_MS,
    // An ended job stays as it is, but for its edits.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const job = query.data;
  const [editing, setEditing] = useState<Editing>(null);
  return (
    <Page
      title={job ? <JobTitle job={job} editing={editing} setEditing={setEditing} /> : jobId}
      tabTitle={job ? jobName(job) : jobId}
      beside={job && <NameButtons job={job} setEditing={setEditing} />}
      crumbs={[{ href: '/jobs', label: 'Jobs' }]}
      actions={job && <JobActions job={job} />}
    >
      {job && <JobTags job={job} editing={editing} setEditing={setEditing} />}
      <Query of={query}>
        {(shown) => {
          if (shown.status === 'completed') return <CompletedJob key={shown.id} job={shown} />;
          if (shown.status === 'queued' || shown.status === 'processing') {
            return <LiveView key={shown.id} job={shown} onEnd={() => void query.refetch()} />;
          }
          return <EndedJob job={shown} />;
        }}
      </Query>
    </Page>
  );
}
