import { useMemo } from 'react';
import { prettyJson } from '../../../text/json-text.ts';
import { saveFile } from '../../../text/save-file.ts';
import { Button } from '../../../ui/button.tsx';
import { Code, copyText } from '../../../ui/copy.tsx';
import { Section } from '../../../ui/page.tsx';
import { jobJson } from './job-json.ts';

// A page with more text than this is slow to lay out.
const MAX_SHOWN_CHARS = 200_000;

type JsonJob = Parameters<typeof jobJson>[0] & { id: string };

/** The job as the API answers it. */
export function JsonTab({ job }: { job: JsonJob }) {
  const text = useMemo(() => jobJson(job, `mark-${crypto.randomUUID()}`), [job]);
  const isCut = text.length > MAX_SHOWN_CHARS;
  return (
    <Section title="JSON">
      <div className="actions">
        <Button onClick={() => void copyText(text)}>Copy all</Button>
        <Button onClick={() => saveFile(`${job.id}.json`, new Blob([text], { type: 'application/json' }))}>
          Download
        </Button>
      </div>
      {isCut && <p className="hint">Only the start is shown; Copy all and Download take all of it.</p>}
      <Code text={isCut ? text.slice(0, MAX_SHOWN_CHARS) : prettyJson(text)} label="JSON" />
    </Section>
  );
}
