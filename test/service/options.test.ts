import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { explainSignature } from '#sdk/webhooks/explain/explain-signature.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { readEvents } from '../fixtures/event-stream.ts';
import { openAudioServer } from '../fixtures/servers/audio-server.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';
import { withSortedKeys } from '../fixtures/webhooks/sorted-keys.ts';

type Word = { start: number; end: number; text: string };
type Job = {
  audio: { duration_seconds: number };
  id: string;
  status: string;
  text: string;
  options: object;
  warnings: { code: string }[];
  segments: { text: string; words?: Word[] }[];
};
type Fields = [name: string, value: string][];

const TEXT = 'hello quiet world hello quiet world';
const SHAPE = { max_line_length: '11', max_lines: '1', min_duration: '0', min_gap: '0', max_chars_per_second: '40' };

// The lite plan has a local engine, the pro plan a speech server.
const speechServer = await openSpeechServer({ body: JSON.stringify({ text: 'Good morning', language: 'english' }) });
const audioServer = await openAudioServer((_request, response) => void response.end(toneWav(TEXT)));
const receiver = await openReceiver();
const dataDir = temporaryFolder();
const caFile = path.join(dataDir, 'receiver-ca.pem');
writeFileSync(caFile, testAuthority.cert);
const service = await openService(
  {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `openai:${speechServer.baseUrl}#large`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${audioServer.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    RATE_LIMIT_TRANSCRIBE: 'off',
  },
  dataDir,
);
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await audioServer[Symbol.asyncDispose]();
  await speechServer[Symbol.asyncDispose]();
});
const { key } = await service.account();
const headers = { 'x-api-key': key };
const webhook = await fetch(`${service.baseUrl}/v1/webhooks`, {
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify({ url: receiver.url, events: ['transcription.completed'] }),
});
const { secret } = (await webhook.json()) as { secret: string };

async function send(fields: Fields, { route = '/v1/transcribe', text = TEXT } = {}) {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
  return await fetch(service.baseUrl + route, { method: 'POST', headers, body: form });
}

const get = async (route: string) => await (await fetch(service.baseUrl + route, { headers })).text();

/** The job in its webhook's payload, in a GET and in the list, and the segments of its event stream. */
async function seen(id: string): Promise<{ jobs: Job[]; streamed: object[] }> {
  const delivery = await until('the delivery', () => receiver.requests.find(({ body }) => body.includes(id)));
  const payload = JSON.parse(delivery.body.toString()) as { data: { job: Job } };
  const job = JSON.parse(await get(`/v1/jobs/${id}`)) as Job;
  const list = JSON.parse(await get('/v1/jobs')) as { data: Job[] };
  const inList = list.data.find((one) => one.id === id)!;
  const stream = await fetch(`${service.baseUrl}/v1/jobs/${id}/events`, { headers });
  const events = await Array.fromAsync(readEvents(stream.body!));
  const streamed = events
    .filter(({ event }) => event === 'segment')
    .map(({ data: { index: _, ...segment } }) => segment);
  return { jobs: [payload.data.job, job, { ...inList, segments: job.segments }], streamed };
}

const idOf = async (answer: Promise<Response>) => ((await (await answer).json()) as Job).id;
const codes = ({ warnings }: Job) => warnings.map(({ code }) => code);

test('prompt and keywords reach a speech server; with a local engine the job completes with warnings', async () => {
  const context: Fields = [
    ['prompt', 'Über Raumfahrt.'],
    ['keywords', 'Kennedy'],
    ['keywords', 'Cape Canaveral'],
  ];

  const remote = await idOf(send([['plan', 'pro'], ['async', 'true'], ...context]));
  const local = await idOf(send([['plan', 'lite'], ...context]));
  const openAi = await send(
    [
      ['model', 'pro'],
      ['prompt', 'Ein Vortrag.'],
      ['keywords[]', 'Gagarin'],
    ],
    { route: '/v1/audio/transcriptions' },
  );
  const [ofRemote, ofLocal] = [await seen(remote), await seen(local)];

  const options = { prompt: 'Über Raumfahrt.', keywords: ['Kennedy', 'Cape Canaveral'] };
  for (const job of ofRemote.jobs) assert.deepEqual([job.text, job.options, codes(job)], ['Good morning', options, []]);
  for (const job of ofLocal.jobs) {
    assert.deepEqual(
      [job.text, job.options, codes(job)],
      [TEXT, options, ['prompt_unsupported', 'keywords_unsupported']],
    );
  }
  assert.deepEqual(Object.keys((await openAi.json()) as object), ['text', 'usage']);
  const prompts = speechServer.requests.map(
    ({ form }) => /name="prompt"\r\n\r\n(.*)\r\n/.exec(Buffer.from(form, 'latin1').toString())?.[1],
  );
  assert.deepEqual(prompts.sort(), ['Ein Vortrag. Gagarin', 'Über Raumfahrt. Kennedy, Cape Canaveral']);
});

test('replacements change the text everywhere: segments, words, captions, event stream, webhook', async () => {
  const replacements = JSON.stringify([
    { from: 'Quiet World', to: 'Kubernetes' },
    { from: 'hello', to: 'quiet' },
    { from: 'ell', to: 'no whole word' },
  ]);
  const text = 'quiet Kubernetes quiet Kubernetes';
  const plain = (await (
    await send([
      ['plan', 'lite'],
      ['timestamps', 'word'],
    ])
  ).json()) as Job;
  const fields: Fields = [
    ['plan', 'lite'],
    ['replacements', replacements],
  ];

  const withWords = await idOf(send([...fields, ['async', 'true'], ['timestamps', 'word']]));
  const srt = await (await send([...fields, ['response_format', 'srt']])).text();
  const captions = await (
    await send([...fields, ['response_format', 'srt'], ...Object.entries({ ...SHAPE, max_line_length: '10' })])
  ).text();
  const { jobs, streamed } = await seen(withWords);

  const wordsOf = (job: Job) => job.segments.flatMap(({ words }) => words!);
  const times = wordsOf(plain);
  for (const job of jobs) {
    assert.equal(job.text, text);
    assert.deepEqual(
      wordsOf(job).map(({ text, start, end }) => [text, start, end]),
      [
        ['quiet', times[0]!.start, times[0]!.end],
        ['Kubernetes', times[1]!.start, times[2]!.end],
        ['quiet', times[3]!.start, times[3]!.end],
        ['Kubernetes', times[4]!.start, times[5]!.end],
      ],
    );
    assert.deepEqual(streamed, job.segments);
  }
  assert.equal(textOfCaptions(srt), text);
  assert.equal(textOfCaptions(captions), text);
  assert.equal(captions.match(/-->/g)?.length, 4);
});

const textOfCaptions = (srt: string) =>
  srt
    .split('\n')
    .filter((line) => line !== '' && !/^\d+$|-->/.test(line))
    .join(' ');

/**
 * Captions of so many words each, which begin with their first word and end half a second after their last, or at the
 * next.
 */
/** @param seconds  of the audio, with which the last caption ends at the latest */
function expectedSrt(words: Word[], counts: number[], seconds: number): string {
  const time = (seconds: number) => new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', ',');
  const rest = [...words];
  const cues = counts.map((count, i) => {
    const own = rest.splice(0, count);
    const end = Math.min(own.at(-1)!.end + 0.5, rest[0]?.start ?? seconds);
    const text = own.map((word) => word.text).join(' ');
    return `${i + 1}\n${time(own[0]!.start)} --> ${time(end)}\n${text}\n`;
  });
  return cues.join('\n');
}

test('captions have the times of the words, at once and from a job, with and without words in the job', async () => {
  // Words of different lengths: by its share of the letters, each would have other times.
  const text = 'a hello to you i listen';
  const shape = Object.entries(SHAPE);
  const withWords = (await (
    await send(
      [
        ['plan', 'lite'],
        ['timestamps', 'word'],
      ],
      { text },
    )
  ).json()) as Job;
  const without = await idOf(
    send(
      [
        ['plan', 'lite'],
        ['async', 'true'],
      ],
      { text },
    ),
  );
  const { jobs } = await seen(without);
  const query = new URLSearchParams(SHAPE);

  const atOnce = await (await send([['plan', 'lite'], ['response_format', 'srt'], ...shape], { text })).text();
  const fromJob = await get(`/v1/jobs/${without}/transcript?format=srt&${query}`);
  const fromJobWithWords = await get(`/v1/jobs/${withWords.id}/transcript?format=srt&${query}`);
  const vtt = await get(`/v1/jobs/${without}/transcript?format=vtt&${query}`);

  const lines = atOnce.match(/^[a-z ]+$/gm)!;
  const counts = lines.map((line) => line.split(' ').length);
  const words = withWords.segments.flatMap((segment) => segment.words!);
  const srt = expectedSrt(words, counts, withWords.audio.duration_seconds);
  assert.ok(lines.length > 1 && lines.every((line) => line.length <= 11), String(lines));
  assert.deepEqual([atOnce, fromJob, fromJobWithWords, textOfCaptions(srt)], [srt, srt, srt, text]);
  assert.equal(vtt, `WEBVTT\n\n${srt.replace(/^\d+\n/gm, '').replace(/(\d),(\d{3})/g, '$1.$2')}`);
  assert.ok(jobs.every(({ segments }) => segments.every((segment) => !('words' in segment))));
});

test('a JSON body carries the same options as JSON values', async () => {
  const options = { keywords: ['Kennedy', 'Gagarin'], replacements: [{ from: 'quiet', to: 'loud' }] };
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ audio_url: `${audioServer.origin}/a.wav`, plan: 'lite', ...options }),
  });

  const job = (await answer.json()) as Job;

  assert.deepEqual([answer.status, job.options, codes(job)], [200, options, ['keywords_unsupported']]);
  assert.equal(job.text, TEXT.replaceAll('quiet', 'loud'));
});

const REFUSED: [param: string, fields: Fields][] = [
  ['max_lines', [['max_lines', '2']]],
  [
    'max_line_length',
    [
      ['response_format', 'srt'],
      ['max_line_length', '9'],
    ],
  ],
  ['prompt', [['prompt', 'x'.repeat(1001)]]],
  ['keywords', [['keywords', 'a/b']]],
  ['replacements', [['replacements', '{"from":"a","to":"b"}']]],
  ['keyword', [['keyword', 'a']]],
];

test('bad options are refused by name, and no job is created', async () => {
  const before = JSON.parse(await get('/v1/jobs')) as { data: Job[] };

  for (const [param, fields] of REFUSED) {
    const answer = await send(fields);
    const { error } = (await answer.json()) as { error: { type: string; param: string } };
    assert.deepEqual([answer.status, error.type, error.param], [400, 'invalid_request', param]);
  }

  const list = JSON.parse(await get('/v1/jobs')) as { data: Job[] };
  assert.equal(list.data.length, before.data.length);
});

test('the debugger of signatures knows the order of the keys of what was sent', () => {
  assert.ok(receiver.requests.length > 3);
  for (const { headers: sent, body } of receiver.requests) {
    const sorted = JSON.stringify(withSortedKeys(JSON.parse(body.toString())));

    const { causes } = explainSignature({ secret, headers: sent, body: sorted });

    assert.deepEqual(causes, ['body_parsed'], body.toString());
  }
});
