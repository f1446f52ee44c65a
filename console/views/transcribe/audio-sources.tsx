import { type FormEvent, useState } from 'react';
import { DropZone } from '../../parts/uploads/drop-zone.tsx';
import { addUpload } from '../../parts/uploads/upload-queue.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Recorder } from './recorder.tsx';

/** Where the audio comes from: files, a folder, a drop, a URL, the microphone. */
export function AudioSources() {
  return (
    <Section title="Audio">
      <DropZone />
      <details>
        <summary>From a URL</summary>
        <UrlForm />
      </details>
      <details>
        <summary>From the microphone</summary>
        <Recorder />
      </details>
    </Section>
  );
}

function UrlForm() {
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const headers = headersOf(String(given.get('headers')));
    if (headers === null) return setProblem('Each line is a name, a colon and a value.');
    setProblem(null);
    addUpload({ url: String(given.get('url')).trim(), ...(Object.keys(headers).length > 0 && { headers }) });
    form.reset();
  };
  return (
    <form onSubmit={submit} aria-label="Audio from a URL">
      <TextField
        label="URL"
        name="url"
        type="url"
        required
        maxLength={4096}
        placeholder="https://media.example.com/call.mp3"
        hint="https, port 443, a public address. The service fetches it."
      />
      <TextArea
        label="Headers"
        name="headers"
        rows={2}
        placeholder="Authorization: Bearer …"
        hint="Sent to this address only. They are not shown again."
        error={problem}
      />
      <Button type="submit">Add</Button>
    </form>
  );
}

/** A line for each header; null for text of another form. */
function headersOf(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line.trim()));
  if (pairs.some((pair) => pair === null)) return null;
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]));
}
