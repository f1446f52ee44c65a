import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { type CaptionForm, captionParams } from '../../parts/captions/caption-form.ts';
import { type FileFormat, transcriptFile } from '../../parts/captions/transcript-file.ts';
import { JobState } from '../../parts/job-state.tsx';
import { remove, retry, type Upload } from '../../parts/uploads/upload-queue.ts';
import { byteSize, clockTime } from '../../text/format.ts';
import { saveFile } from '../../text/save-file.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/state.tsx';
import { Table } from '../../ui/table/table.tsx';

const EVERY_MS = 3_000;

/** The uploads of this tab: how far each is, its job, and its transcript to save. */
export function UploadList({ uploads, captions }: { uploads: readonly Upload[]; captions: CaptionForm }) {
  if (uploads.length === 0) return null;
  return (
    <Table
      label="Uploads"
      rows={uploads}
      keyOf={({ id }) => String(id)}
      columns={[
        { head: 'File', cell: (upload) => <Name upload={upload} /> },
        { head: 'Size', isNumber: true, cell: ({ sizeBytes }) => (sizeBytes === null ? '–' : byteSize(sizeBytes)) },
        { head: 'Length', isNumber: true, cell: ({ seconds }) => (seconds === null ? '–' : clockTime(seconds)) },
        { head: 'State', cell: (upload) => <State upload={upload} captions={captions} /> },
        { head: 'Action', cell: (upload) => <Actions upload={upload} /> },
      ]}
    />
  );
}

function Name({ upload: { name, jobId } }: { upload: Upload }) {
  if (jobId === null) return <span className="url">{name}</span>;
  return (
    <a className="url" href={`#/jobs/${jobId}`}>
      {name}
    </a>
  );
}

function State({ upload, captions }: { upload: Upload; captions: CaptionForm }) {
  const { state, part, error, jobId, name } = upload;
  if (state === 'sent' && jobId !== null) return <SentJob id={jobId} captions={captions} />;
  if (state === 'failed') return <Problem error={error} />;
  if (state === 'sending') {
    const percent = `${Math.floor(part * 100)} %`;
    return (
      <span className="job-state">
        <progress max={1} value={part} aria-label={`Upload of ${name}`} /> {part < 1 ? percent : 'being checked'}
      </span>
    );
  }
  return { ready: 'ready', waiting: 'waits', paused: 'paused', sent: 'sent' }[state];
}

function SentJob({ id, captions }: { id: string; captions: CaptionForm }) {
  const { data: job } = useQuery({
    queryKey: ['job', 'upload', id],
    queryFn: ({ signal }) => api.jobs.get(id, { signal }),
    refetchInterval: ({ state }) =>
      state.data && !['queued', 'processing'].includes(state.data.status) ? false : EVERY_MS,
  });
  if (!job) return 'sent';
  const save = async (format: FileFormat) =>
    saveFile(`${id}.${format}`, await transcriptFile(api, id, { format, captions: captionsOf(captions) }));
  return (
    <span className="row">
      <JobState job={job} />
      {job.status === 'completed' && (
        <>
          <ActionButton act={() => save('txt')}>txt</ActionButton>
          <ActionButton act={() => save('srt')}>srt</ActionButton>
          <ActionButton act={() => save('vtt')}>vtt</ActionButton>
        </>
      )}
      {job.error && <small className="wrong">{job.error.message}</small>}
    </span>
  );
}

function captionsOf(form: CaptionForm) {
  const { format: _, ...params } = captionParams(form);
  return params;
}

function Actions({ upload: { id, state, name } }: { upload: Upload }) {
  return (
    <span className="row">
      {state === 'failed' && (
        <Button aria-label={`Try ${name} again`} onClick={() => retry(id)}>
          Try again
        </Button>
      )}
      <Button look="quiet" aria-label={`Remove ${name}`} onClick={() => remove(id)}>
        {state === 'sending' ? 'Stop' : 'Remove'}
      </Button>
    </span>
  );
}
