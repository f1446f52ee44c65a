import { useQueryClient } from '@tanstack/react-query';
import { Download, RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Job } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { useAccount } from '../../api/queries.ts';
import { type FileFormat, transcriptFile } from '../../parts/captions/transcript-file.ts';
import { navigate } from '../../router/address.ts';
import { saveFile } from '../../text/save-file.ts';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { MenuButton } from '../../ui/menu/menu-button.tsx';
import { say } from '../../ui/toast.tsx';
import { ShareButton } from './share/share-button.tsx';

/** What can be done with a job: buttons for its state, and for what the key may do. */
export function JobActions({ job }: { job: Pick<Job, 'id' | 'title' | 'status' | 'plan'> }) {
  const { data: account } = useAccount();
  const mayWrite = account?.scopes.includes('jobs:write') ?? false;
  const isOpen = job.status === 'queued' || job.status === 'processing';
  return (
    <>
      {job.status === 'completed' && <Downloads job={job} />}
      {job.status === 'completed' && mayWrite && <ShareButton id={job.id} />}
      {mayWrite && isOpen && <Cancel id={job.id} />}
      {mayWrite && !isOpen && <Retry job={job} plans={account?.plan === 'lite' ? ['lite'] : ['lite', 'pro']} />}
      {mayWrite && !isOpen && <Erase id={job.id} />}
    </>
  );
}

function Downloads({ job: { id, title } }: { job: Pick<Job, 'id' | 'title'> }): ReactNode {
  const download = async (format: FileFormat, captions?: object) => {
    try {
      const text = await transcriptFile(api, id, { format, ...(captions && { captions }) });
      saveFile(`${title || id}.${format}`, new Blob([text]));
    } catch (error) {
      say(problemOf(error).message);
    }
  };
  return (
    <MenuButton
      className="button"
      groups={[
        {
          title: 'Transcript',
          entries: [
            { key: 'txt', label: 'Text, .txt', act: () => download('txt') },
            { key: 'md', label: 'Markdown, .md', act: () => download('md') },
            { key: 'docx', label: 'Word, .docx', act: () => download('docx') },
            { key: 'pdf', label: 'PDF', act: () => download('pdf') },
            { key: 'json', label: 'JSON', act: () => download('json') },
          ],
        },
        {
          title: 'Captions, broadcast',
          entries: [
            { key: 'srt', label: 'SubRip, .srt', act: () => download('srt') },
            { key: 'vtt', label: 'WebVTT, .vtt', act: () => download('vtt') },
          ],
        },
        {
          title: 'Captions, plain',
          entries: [
            { key: 'srt-plain', label: 'SubRip, .srt', act: () => download('srt', {}) },
            { key: 'vtt-plain', label: 'WebVTT, .vtt', act: () => download('vtt', {}) },
          ],
        },
      ]}
    >
      <Download aria-hidden /> Download
    </MenuButton>
  );
}

function Cancel({ id }: { id: string }) {
  const client = useQueryClient();
  return (
    <ConfirmButton
      title="Cancel this job?"
      text="The job ends at once. You pay for the audio that is transcribed so far."
      confirm="Cancel the job"
      act={async () => client.setQueryData(['job', id], await api.jobs.cancel(id))}
    >
      Cancel
    </ConfirmButton>
  );
}

/** A new job on the stored audio; the API says where the audio is no longer stored. */
function Retry({ job, plans }: { job: Pick<Job, 'id' | 'plan'>; plans: readonly Job['plan'][] }) {
  const [plan, setPlan] = useState(job.plan);
  const retry = async () => {
    const { id } = await api.jobs.retry(job.id, { plan });
    say('A new job was created.');
    navigate(`/jobs/${id}`);
  };
  return (
    <ConfirmButton
      look="quiet"
      title="Transcribe again?"
      confirm="Transcribe again"
      text={
        <SelectField
          label="Plan"
          options={plans.map((name) => [name, name] as const)}
          value={plan}
          onChange={(event) => setPlan(event.target.value as Job['plan'])}
          hint="Creates a new job from the stored audio with the same options. It is charged again."
        />
      }
      act={retry}
    >
      <RotateCcw aria-hidden /> Transcribe again
    </ConfirmButton>
  );
}

function Erase({ id }: { id: string }) {
  const client = useQueryClient();
  const erase = async () => {
    await api.jobs.delete(id);
    client.removeQueries({ queryKey: ['job', id] });
    say('The job was erased.');
    navigate('/jobs');
  };
  return (
    <ConfirmButton
      title="Erase this job?"
      text="This erases the transcript, its edits, the names, the metadata and the audio, also in the event. You cannot undo it."
      confirm="Erase"
      act={erase}
    >
      <Trash2 aria-hidden /> Erase
    </ConfirmButton>
  );
}
