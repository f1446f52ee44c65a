import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { JobInList } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { useMay } from '../../api/queries.ts';
import type { FileFormat } from '../../parts/captions/transcript-file.ts';
import { jobName } from '../../parts/job-state.tsx';
import { saveFile } from '../../text/save-file.ts';
import { writeZip } from '../../text/zip.ts';
import { ActionButton, ConfirmButton } from '../../ui/action-button.tsx';
import type { Selection } from '../../ui/table/table.tsx';
import { say } from '../../ui/toast.tsx';

const AT_ONCE = 4;
const FORMATS = {
  txt: 'Text',
  md: 'Markdown',
  docx: 'Word',
  pdf: 'PDF',
  srt: 'SRT, broadcast',
  'srt-plain': 'SRT, plain',
  vtt: 'WebVTT, broadcast',
  'vtt-plain': 'WebVTT, plain',
  json: 'JSON',
} as const;
type ChosenFormat = keyof typeof FORMATS;
const isOpen = ({ status }: JobInList) => status === 'queued' || status === 'processing';

/** What can be done with the selected jobs; each button says for how many of them. */
export function BulkActions({
  jobs,
  selection,
  reload,
}: {
  jobs: readonly JobInList[];
  selection: Selection;
  reload: () => void;
}) {
  const client = useQueryClient();
  const mayWrite = useMay('jobs:write');
  const [format, setFormat] = useState<ChosenFormat>('txt');
  const chosen = jobs.filter(({ id }) => selection.has(id));
  if (chosen.length === 0) return null;
  const [open, ended] = [chosen.filter(isOpen), chosen.filter((job) => !isOpen(job))];
  const done = chosen.filter(({ status }) => status === 'completed');
  const forAll = async (verb: string, some: readonly JobInList[], act: (id: string) => Promise<unknown>) => {
    const problems = await eachOf(some, ({ id }) => act(id));
    say(`${some.length - problems.length} of ${some.length} jobs ${verb}.${problems[0] ? ` ${problems[0]}` : ''}`);
    selection.set([]);
    void client.invalidateQueries({ queryKey: ['balance'] });
    reload();
  };
  return (
    <fieldset className="bulk">
      <legend>{chosen.length} selected</legend>
      <div className="actions">
        {mayWrite && open.length > 0 && (
          <ConfirmButton
            title={`Cancel ${open.length} jobs?`}
            text="You pay for the audio that is transcribed so far."
            confirm="Cancel the jobs"
            act={() => forAll('canceled', open, (id) => api.jobs.cancel(id))}
          >
            Cancel {open.length}
          </ConfirmButton>
        )}
        {mayWrite && ended.length > 0 && (
          <ConfirmButton
            title={`Erase ${ended.length} jobs?`}
            text="This erases the transcripts, the metadata and the stored audio. You cannot undo it."
            confirm="Erase"
            act={() => forAll('erased', ended, (id) => api.jobs.delete(id))}
          >
            Erase {ended.length}
          </ConfirmButton>
        )}
        {done.length > 0 && (
          <>
            <label className="filter">
              <span>Format</span>
              <select value={format} onChange={(event) => setFormat(event.target.value as ChosenFormat)}>
                {Object.entries(FORMATS).map(([name, label]) => (
                  <option key={name} value={name}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <ActionButton act={() => downloadAll(done, format)}>Download {done.length} as zip</ActionButton>
          </>
        )}
      </div>
    </fieldset>
  );
}

/** Saves the transcripts as one archive, which the browser makes. */
async function downloadAll(jobs: readonly JobInList[], chosen: ChosenFormat): Promise<void> {
  // Loaded when it is used: the list of jobs is the first page.
  const { transcriptFile } = await import('../../parts/captions/transcript-file.ts');
  const [format, shape] = chosen.split('-') as [FileFormat, string?];
  const options = { format, ...(shape && { captions: {} }) };
  const files: { name: string; content: Uint8Array<ArrayBuffer> }[] = [];
  const problems = await eachOf(jobs, async (job) => {
    const content = new Blob([await transcriptFile(api, job.id, options)]);
    files.push({ name: fileName(job, format), content: new Uint8Array(await content.arrayBuffer()) });
  });
  if (problems[0]) say(`${problems.length} transcripts are not in the archive. ${problems[0]}`);
  if (files.length > 0) saveFile('transcripts.zip', writeZip(files, new Date()));
}

/** The name of the job or its audio with the end of its id, which tells two files of one name apart. */
function fileName(job: JobInList, format: FileFormat): string {
  const base =
    job.title?.replaceAll('/', '-') ??
    jobName(job)
      .replace(/^.*\//, '')
      .replace(/\.[\w-]{1,5}$/, '');
  return `${base}-${job.id.slice(-6)}.${format}`;
}

/** Runs some at once, and returns the messages of those that failed. */
async function eachOf<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<string[]> {
  const problems: string[] = [];
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
      await act(item).catch((error) => problems.push(problemOf(error).message));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return problems;
}
