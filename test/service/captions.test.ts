import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

type Words = { start: number; end: number; text: string }[];

const TEXT = 'hello quiet world hello quiet world';
const SHAPE = { max_line_length: '11', max_lines: '1', min_duration: '0', min_gap: '0', max_chars_per_second: '40' };

const service = await openService({
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
});
after(() => service[Symbol.asyncDispose]());
const { key } = await service.account();
const headers = { 'x-api-key': key };

async function send(fields: Record<string, string>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(toneWav(TEXT))]), 'tone.wav');
  return await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form });
}

async function get(path: string) {
  return await (await fetch(service.baseUrl + path, { headers })).text();
}

/** Captions of one or two words: each begins with its first word and ends half a second after its last, or at the next. */
function expectedSrt(words: Words): string {
  const time = (seconds: number) => new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', ',');
  const lines = [
    [0, 0],
    [1, 2],
    [3, 3],
    [4, 5],
  ] as const;
  const cues = lines.map(([first, last], i) => {
    const next = words[lines[i + 1]?.[0] ?? Number.POSITIVE_INFINITY]?.start ?? Number.POSITIVE_INFINITY;
    const end = Math.min(words[last]!.end + 0.5, next);
    const text = words.slice(first, last + 1).map((word) => word.text);
    return `${i + 1}\n${time(words[first]!.start)} --> ${time(end)}\n${text.join(' ')}\n`;
  });
  return cues.join('\n');
}

test('captions have the times of the words, at once and from a job, with and without words in the answer', async () => {
  const withWords = (await (await send({ timestamps: 'word' })).json()) as { id: string; segments: { words: Words }[] };
  const { id } = (await (await send({ async: 'true' })).json()) as { id: string };
  const query = new URLSearchParams({ format: 'srt', ...SHAPE });
  await until('the job to complete', async () => (await get(`/v1/jobs/${id}`)).includes('"status":"completed"'));

  const atOnce = await (await send({ response_format: 'srt', ...SHAPE })).text();
  const fromJob = await get(`/v1/jobs/${id}/transcript?${query}`);
  const fromJobWithWords = await get(`/v1/jobs/${withWords.id}/transcript?${query}`);
  const vtt = await get(`/v1/jobs/${id}/transcript?${query.toString().replace('srt', 'vtt')}`);
  const job = JSON.parse(await get(`/v1/jobs/${id}`)) as { segments: object[] };

  const srt = expectedSrt(withWords.segments.flatMap(({ words }) => words));
  assert.deepEqual([atOnce, fromJob, fromJobWithWords], [srt, srt, srt]);
  assert.equal(vtt, `WEBVTT\n\n${srt.replace(/^\d+\n/gm, '').replace(/(\d),(\d{3})/g, '$1.$2')}`);
  assert.ok(job.segments.every((segment) => !('words' in segment)));
});

test('options of captions are refused for other formats and out of range, and no job is created', async () => {
  const before = JSON.parse(await get('/v1/jobs')) as { data: object[] };
  const refused: [string, Record<string, string>][] = [
    ['max_lines', { max_lines: '2' }],
    ['max_line_length', { response_format: 'srt', max_line_length: '9' }],
  ];
  for (const [param, fields] of refused) {
    const answer = await send(fields);
    const { error } = (await answer.json()) as { error: { type: string; param: string } };
    assert.deepEqual([answer.status, error.type, error.param], [400, 'invalid_request', param]);
  }
  const list = JSON.parse(await get('/v1/jobs')) as { data: object[] };
  assert.equal(list.data.length, before.data.length);
});
