import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { channelsWav, TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { putSpeakerModels } from '../fixtures/audio/voices/models.ts';
import { conversation, type Utterance } from '../fixtures/audio/voices/voices.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { inEvent } from '../fixtures/webhooks/job-in-event.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

type Timed = { start: number; end: number; text: string; speaker?: string | null };
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

const MAX_TIME_ERROR_SECONDS = 0.04;
const TALK: Utterance[] = [
  { voice: 1, text: 'good morning to you' },
  { voice: 0, text: 'hello how are you today', pauseSeconds: 0.7 },
  { voice: 2, text: 'we are both well', pauseSeconds: 0.7 },
  { voice: 1, text: 'that is nice', pauseSeconds: 0.7 },
];
const SPOKEN = TALK.map(({ text }, at) => ['ABCA'[at], text]);

const receiver = await openReceiver();
const dataDir = temporaryFolder();
await putSpeakerModels(path.join(dataDir, 'models'));
writeFileSync(path.join(dataDir, 'receiver-ca.pem'), testAuthority.cert);
const service = await openService(
  {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    RATE_LIMIT_TRANSCRIBE: 'off',
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: path.join(dataDir, 'receiver-ca.pem'),
  },
  dataDir,
);
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});
const { key } = await service.account();
const talk = conversation(TALK);

async function call(method: string, route: string, body?: FormData | string, as = key) {
  const headers = { 'x-api-key': as, ...(typeof body === 'string' && { 'content-type': 'application/json' }) };
  const answer = await fetch(service.baseUrl + route, { method, headers, ...(body && { body }) });
  const text = await answer.text();
  return { status: answer.status, text, json: (text.startsWith('{') ? JSON.parse(text) : null) as Json };
}

async function send(fields: Record<string, string>, pcm = talk.pcm) {
  return await sendFile(fields, wavOf(pcm));
}

async function sendFile(fields: Record<string, string>, file: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([file]), 'talk.wav');
  return await call('POST', '/v1/transcribe', form);
}

async function ended(id: string): Promise<Json> {
  return await until('the job to end', async () => {
    const { json } = await call('GET', `/v1/jobs/${id}`);
    return json.completed_at !== null && json;
  });
}

function spokenIn(segments: Timed[]) {
  return segments.map(({ speaker, text }) => [speaker, text]);
}

/** Checks the time of each speaker against the turns, whose edges may each be off. */
function assertSpeakers(speakers: { id: string; seconds: number }[], { turns }: ReturnType<typeof conversation>) {
  const order = [...new Set(turns.map(({ voice }) => voice))];
  assert.deepEqual(
    speakers.map(({ id }) => id),
    order.map((_, at) => 'ABCDEF'[at]),
  );
  for (const [at, { seconds }] of speakers.entries()) {
    const own = turns.filter(({ voice }) => voice === order[at]);
    const spoken = own.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
    const error = Math.abs(seconds - spoken);
    assert.ok(error <= 2 * MAX_TIME_ERROR_SECONDS * own.length, `speaker ${at} is off by ${error} s`);
  }
}

test('the plans say that they can tell speakers apart', async () => {
  const { json } = await call('GET', '/v1/models');

  assert.deepEqual(
    json.data.map(({ features }: { features: string[] }) => features.includes('diarize')),
    [true, true],
  );
});

test('a synchronous answer says who speaks, for how long, and the text stays exact', async () => {
  const { status, json } = await send({ diarize: 'true', timestamps: 'word' });

  assert.deepEqual([status, json.text, json.warnings], [200, TALK.map(({ text }) => text).join(' '), []]);
  assert.deepEqual(spokenIn(json.segments), SPOKEN);
  for (const { speaker, words } of json.segments) assert.ok(words.every((word: Timed) => word.speaker === speaker));
  assertSpeakers(json.speakers, talk);
  assert.equal(json.options.diarize, true);
});

test('an asynchronous job and its webhook say the same', async () => {
  const url = `${receiver.url}speakers`;
  await call('POST', '/v1/webhooks', JSON.stringify({ url, events: ['transcription.completed'] }));

  const { json } = await send({ diarize: '1', async: 'true', min_speakers: '2', max_speakers: '4' });
  const job = await ended(json.id);
  const { body } = await receiver.waitFor(1);

  assert.equal(json.speakers, null);
  assert.deepEqual(spokenIn(job.segments), SPOKEN);
  assertSpeakers(job.speakers, talk);
  assert.deepEqual(job.options, { diarize: true, min_speakers: 2, max_speakers: 4 });
  assert.deepEqual(JSON.parse(body.toString()).data.job, inEvent(job));
});

test('audio that is transcribed in pieces has the same names throughout; the number can be given', async () => {
  const long = conversation(
    Array.from({ length: 24 }, (_, at) => ({ ...TALK[at % 3]!, voice: [2, 0, 2, 1][at % 4]!, pauseSeconds: 0.6 })),
  );
  assert.ok(long.pcm.length > 75 * 16_000);

  const [any, two] = await Promise.all([
    send({ diarize: 'true' }, long.pcm),
    send({ diarize: 'true', speakers: '3' }, long.pcm),
  ]);

  for (const { json } of [any, two]) {
    const names = json.segments.map(({ speaker }: Timed) => speaker).join('');
    assert.equal(names, 'ABAC'.repeat(6));
    assertSpeakers(json.speakers, long);
  }
});

test('a job that did not ask has no speakers; with one speaker everything is said by A', async () => {
  const [plain, one] = await Promise.all([send({}), send({ diarize: 'true', speakers: '1' })]);

  assert.deepEqual(
    [plain.json.speakers, plain.json.segments.some((segment: Timed) => 'speaker' in segment)],
    [null, false],
  );
  assert.deepEqual([...new Set(one.json.segments.map(({ speaker }: Timed) => speaker))], ['A']);
  assert.equal(one.json.speakers.length, 1);
});

test('a search shows who said it', async () => {
  const { id } = (await send({ diarize: 'true' })).json;

  const { json } = await call('GET', '/v1/search?q=%22both+well%22');

  const found = json.data.find(({ job_id }: { job_id: string }) => job_id === id);
  assert.deepEqual(spokenIn(found.hits), [['C', 'we are both well']]);
});

test('with multichannel speakers are found in each channel, and named after it', async () => {
  const other = conversation([
    { voice: 2, text: 'where are they', pauseSeconds: 0.2 },
    { voice: 1, text: 'over there', pauseSeconds: 8 },
  ]);
  const { status, json } = await sendFile(
    { diarize: 'true', multichannel: 'true' },
    new Uint8Array(channelsWav([talk.pcm, other.pcm])),
  );

  assert.deepEqual([status, json.warnings], [200, []]);
  const named = (channel: number) =>
    json.segments.filter((segment: Timed & { channel: number }) => segment.channel === channel);
  assert.deepEqual(
    spokenIn(named(0)),
    SPOKEN.map(([speaker, text]) => [`0${speaker}`, text]),
  );
  assert.deepEqual(spokenIn(named(1)), [
    ['1A', 'where are they'],
    ['1B', 'over there'],
  ]);
  assert.deepEqual(
    json.speakers.map(({ id }: { id: string }) => id),
    ['0A', '0B', '0C', '1A', '1B'],
  );
});

test('silence has an empty list of speakers', async () => {
  const { json } = await send({ diarize: 'true' }, new Int16Array(16_000 * 2));

  const codes = json.warnings.map(({ code }: { code: string }) => code);
  assert.deepEqual([json.text, json.speakers, codes], ['', [], ['no_speech']]);
});

test('captions show names where asked', async () => {
  const { json } = await send({ diarize: 'true', async: 'true' });
  await ended(json.id);
  const transcript = async (query: string) => (await call('GET', `/v1/jobs/${json.id}/transcript?${query}`)).text;
  const textLines = (text: string) => text.split('\n').filter((line) => /[a-z]$/.test(line));
  const named = SPOKEN.map(([speaker, text]) => `${speaker}: ${text}`);
  const plain = SPOKEN.map(([, text]) => text);

  assert.deepEqual(textLines(await transcript('format=srt&speakers=true')), named);
  assert.deepEqual(textLines(await transcript('format=srt&speakers=true&max_lines=1')), named);
  assert.deepEqual(textLines(await transcript('format=srt&speakers=false')), plain);
  assert.deepEqual(textLines(await transcript('format=srt')), plain);
  assert.deepEqual(
    textLines(await transcript('format=vtt&speakers=true')),
    SPOKEN.map(([speaker, text]) => `<v ${speaker}>${text}`),
  );
  const atOnce = async (fields: Record<string, string>) => {
    return textLines((await send({ diarize: 'true', response_format: 'srt', ...fields })).text);
  };
  assert.deepEqual(await atOnce({ speakers: 'true' }), named);
  assert.deepEqual(await atOnce({ speakers: '3' }), named);
  assert.deepEqual(await atOnce({}), plain);
});

test('wrong numbers and combinations are refused, and no job is made', async () => {
  const count = async () => (await call('GET', '/v1/jobs?limit=100')).json.data.length;
  const before = await count();
  for (const [param, fields] of [
    ['diarize', { diarize: 'yes' }],
    ['speakers', { speakers: '2' }],
    ['min_speakers', { min_speakers: '2', diarize: 'false' }],
    ['max_speakers', { max_speakers: '2' }],
    ['speakers', { diarize: 'true', speakers: '0' }],
    ['speakers', { diarize: 'true', speakers: '33' }],
    ['speakers', { diarize: 'true', speakers: '1.5' }],
    ['min_speakers', { diarize: 'true', min_speakers: '-1' }],
    ['max_speakers', { diarize: 'true', max_speakers: 'many' }],
    ['speakers', { diarize: 'true', speakers: '2', max_speakers: '3' }],
    ['speakers', { diarize: 'true', speakers: '2', min_speakers: '2' }],
    ['min_speakers', { diarize: 'true', min_speakers: '4', max_speakers: '3' }],
    ['speakers', { diarize: 'true', speakers: 'true' }],
  ] as [string, Record<string, string>][]) {
    const { status, json } = await send(fields);
    assert.deepEqual(
      [status, json.error.type, json.error.param],
      [400, 'invalid_request', param],
      JSON.stringify(fields),
    );
  }
  assert.equal(await count(), before);
});

test('another account does not see who speaks, and an erased job is gone', async () => {
  const other = await service.account();
  const { id } = (await send({ diarize: 'true' })).json;
  const route = `/v1/jobs/${id}/transcript?format=srt&speakers=true`;

  assert.equal((await call('GET', route, undefined, other.key)).status, 404);
  assert.equal((await call('DELETE', `/v1/jobs/${id}`)).status, 204);
  assert.equal((await call('GET', route)).status, 404);
});

function processesOf(part: RegExp) {
  return descendantsOf(service.pid).filter((entry) => part.test(entry.arguments.join(' ')));
}

const PASS = /speakers-child/;
/** Long enough for a pass to be seen. */
const MINUTES = conversation(Array.from({ length: 60 }, (_, at) => ({ ...TALK[at % 4]!, pauseSeconds: 0.7 })));

test('a pass that is killed again and again leaves a completed job with its text, and a warning', async () => {
  const { id } = (await send({ diarize: 'true', async: 'true' }, MINUTES.pcm)).json;
  const killed = new Set<number>();
  while (killed.size < 2) {
    const [pass] = await until('the pass', () => {
      const found = processesOf(PASS).filter(({ pid }) => !killed.has(pid));
      return found.length > 0 ? found : null;
    });
    process.kill(pass!.pid, 'SIGKILL');
    killed.add(pass!.pid);
  }

  const job = await ended(id);

  assert.deepEqual([job.status, job.speakers], ['completed', null]);
  assert.ok(job.segments.length >= 60 && job.segments.every(({ speaker }: Timed) => speaker === null));
  assert.deepEqual(
    job.warnings.map(({ code }: { code: string }) => code),
    ['speakers_unavailable'],
  );
});

test('a job whose transcriber is killed in the middle of the pass ends once, with its speakers', async () => {
  const { id } = (await send({ diarize: 'true', async: 'true' }, MINUTES.pcm)).json;
  const [pass] = await until('the pass', () => {
    const found = processesOf(PASS);
    return found.length > 0 ? found : null;
  });
  const [transcriber] = processesOf(/process\.js transcriber/);

  process.kill(transcriber!.pid, 'SIGKILL');
  await until('the pass to end with its parent', () => !processesOf(PASS).some(({ pid }) => pid === pass!.pid));
  const job = await ended(id);

  assert.equal(job.status, 'completed');
  assertSpeakers(job.speakers, MINUTES);
  assert.deepEqual(
    job.segments.map(({ speaker }: Timed) => speaker).join(''),
    Array.from({ length: 60 }, (_, at) => 'ABCA'[at % 4]).join(''),
  );
});

test('a job that is canceled during the pass stops it', async () => {
  const { id } = (await send({ diarize: 'true', async: 'true' }, MINUTES.pcm)).json;
  await until('the pass', () => processesOf(PASS).length > 0);

  const { json } = await call('POST', `/v1/jobs/${id}/cancel`);

  assert.equal(json.status, 'canceled');
  await until('the pass to end', () => processesOf(PASS).length === 0);
});

test('the command line names speakers, shows one as another, and takes both back', async () => {
  const { id } = (await send({ diarize: 'true' })).json;
  const env = { VERBATIM_URL: service.baseUrl, VERBATIM_API_KEY: key };
  const speakers = async (...options: string[]) => {
    const { stdout, stderr } = await runVerbatim(['jobs', 'speakers', id, ...options], { env });
    assert.equal(stderr, '');
    return stdout;
  };

  assert.equal(await speakers(), 'A\nB\nC\n');
  assert.equal(await speakers('--name', 'A=Anna', '--name', 'B=Ben Li'), 'A  Anna\nB  Ben Li\nC\n');
  assert.equal(await speakers('--merge', 'C=A'), 'A  Anna\nB  Ben Li\nC  as A\n');
  assert.equal(await speakers('--merge', 'C=', '--name', 'A='), 'A\nB  Ben Li\nC\n');
});
