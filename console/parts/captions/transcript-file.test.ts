import assert from 'node:assert/strict';
import test from 'node:test';
import { FILE_FORMATS, transcriptFile } from './transcript-file.ts';

/** An API that answers with its own arguments. */
function echo() {
  const asked: unknown[][] = [];
  const transcript = async (...args: unknown[]) => {
    asked.push(args);
    return 'text';
  };
  return { asked, api: { jobs: { transcript } } as unknown as Parameters<typeof transcriptFile>[0] };
}

test('captions are shaped for reading without an option, and other files are as they are', async () => {
  const { api, asked } = echo();

  for (const format of FILE_FORMATS) await transcriptFile(api, 'job_1', { format });

  assert.deepEqual(asked, [
    ['job_1', 'text'],
    ['job_1', 'md'],
    ['job_1', 'docx'],
    ['job_1', 'pdf'],
    ['job_1', 'srt', { max_line_length: 42 }],
    ['job_1', 'vtt', { max_line_length: 42 }],
    ['job_1', 'json'],
  ]);
});

test('given options of captions replace the usual ones', async () => {
  const { api, asked } = echo();

  for (const captions of [{ max_line_length: 20 }, {}]) {
    await transcriptFile(api, 'job_1', { format: 'srt', captions });
  }

  assert.deepEqual(
    asked.map(([, , params]) => params),
    [{ max_line_length: 20 }, {}],
  );
});
