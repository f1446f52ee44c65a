import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import OpenAI, { toFile } from 'openai';
import { longSpeech } from '../fixtures/audio/long-speech.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { putSpeakerModels } from '../fixtures/audio/voices/models.ts';
import { conversation } from '../fixtures/audio/voices/voices.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const TEXT = 'hello quiet world';
const said = (text: string) => ({ body: JSON.stringify({ text }) });

const server = await openSpeechServer(said('from afar'));
const dataDir = temporaryFolder();
await putSpeakerModels(path.join(dataDir, 'models'));
const service = await openService(
  {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `openai:${server.baseUrl}#large`,
    TRANSCRIBE_CONCURRENCY: '1',
    RATE_LIMIT_TRANSCRIBE: '9/600',
  },
  dataDir,
);
test.after(async () => {
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** The official client, unchanged but for its base URL and key. */
async function openClient(plan: 'lite' | 'pro', credits: number | null = null) {
  const { key } = await service.account({ plan, credits });
  return new OpenAI({ apiKey: key, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
}

/** An answer of the API itself. */
async function read(client: OpenAI, route: string) {
  const answer = await fetch(service.baseUrl + route, { headers: { 'x-api-key': client.apiKey ?? '' } });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return (await answer.json()) as any;
}

const speech = () => toFile(toneWav(TEXT), 'speech.wav');
const parametersOf = async () => ({ file: await speech(), model: 'whisper-1' });

test('the official client gets every format, with times', async () => {
  const client = await openClient('lite');
  const create = client.audio.transcriptions.create.bind(client.audio.transcriptions);

  const json = await create(await parametersOf());
  const text = await create({ ...(await parametersOf()), response_format: 'text', temperature: 0, prompt: 'names' });
  const srt = await create({ ...(await parametersOf()), response_format: 'srt' });
  const vtt = await create({ ...(await parametersOf()), response_format: 'vtt', language: 'en' });
  const verbose = await create({
    ...(await parametersOf()),
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
    language: 'en',
  });
  const onlySegments = await create({ ...(await parametersOf()), response_format: 'verbose_json' });

  assert.equal(json.text, TEXT);
  assert.equal(text, `${TEXT}\n`);
  assert.match(srt, /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nhello quiet world\n/);
  assert.match(vtt, /^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:0\d\.\d{3}\nhello quiet world\n/);
  // The model of tones tells no language.
  assert.deepEqual([verbose.text, verbose.language], [TEXT, '']);
  assert.deepEqual(
    verbose.words?.map(({ word }) => word),
    ['hello', 'quiet', 'world'],
  );
  assert.ok(verbose.words?.every(({ start, end }) => start >= 0 && start < end && end <= verbose.duration));
  assert.equal(verbose.segments?.[0]?.text, TEXT);
  assert.ok(Math.abs(verbose.segments![0]!.end - verbose.duration) < 1);
  assert.deepEqual([onlySegments.words, onlySegments.segments?.length], [undefined, 1]);
});

test('errors arrive as the classes of the official client', async () => {
  const client = await openClient('lite');
  const stranger = new OpenAI({ apiKey: 'sk-none', baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
  const poor = await openClient('lite', 0);
  const noise = await toFile(Buffer.from('this is no sound'), 'a.mp3');
  const ask = async (by: OpenAI, more: object = {}) => {
    const body = { ...(await parametersOf()), ...more } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming;
    return await by.audio.transcriptions.create(body).then(
      () => 'no error',
      (error: unknown) => error,
    );
  };

  const unknownKey = await ask(stranger);
  const streaming = await ask(client, { stream: true, response_format: 'srt' });
  const format = await ask(client, { response_format: 'rttm' });
  const granularity = await ask(client, { response_format: 'verbose_json', timestamp_granularities: ['letter'] });
  const pro = await ask(client, { model: 'pro' });
  const notAudio = await ask(client, { file: noise });
  const tooPoor = [await ask(poor), await ask(poor, { stream: true })];
  const missing = await ask(client, { file: 'no file' });
  const unknownField = await ask(client, { speed: '2' });
  for (let sent = 7; sent < 9; sent++) await ask(client);
  const tooMany = await ask(client);

  assert.ok(unknownKey instanceof OpenAI.AuthenticationError);
  for (const error of [streaming, format, granularity, missing, unknownField]) {
    assert.ok(error instanceof OpenAI.BadRequestError, String(error));
  }
  assert.ok(pro instanceof OpenAI.PermissionDeniedError);
  assert.deepEqual([pro.type, pro.param], ['plan_limit', 'model']);
  assert.ok(notAudio instanceof OpenAI.UnprocessableEntityError);
  for (const error of tooPoor) assert.ok(error instanceof OpenAI.APIError && error.status === 402);
  assert.equal((streaming as InstanceType<typeof OpenAI.APIError>).param, 'response_format');
  assert.ok(tooMany instanceof OpenAI.RateLimitError);
  assert.ok(Number(tooMany.headers.get('retry-after')) >= 1);
});

test('a wait that runs out names the job, and the client does not pay for a second one', async () => {
  await using waiting = await openService({ SYNC_WAIT_SECONDS: '0', ROLES: 'api' });
  const { key } = await waiting.account();
  const client = new OpenAI({ apiKey: key, baseURL: `${waiting.baseUrl}/v1`, maxRetries: 2 });

  const error = await client.audio.transcriptions.create(await parametersOf()).catch((cause: unknown) => cause);
  const list = await fetch(`${waiting.baseUrl}/v1/jobs`, { headers: { 'x-api-key': key } });
  const { data } = (await list.json()) as { data: { id: string; status: string }[] };

  assert.ok(error instanceof OpenAI.InternalServerError);
  assert.deepEqual([error.status, error.type, data.length], [503, 'unavailable', 1]);
  assert.ok(error.message.includes(data[0]!.id));
  assert.ok(Number(error.headers.get('retry-after')) >= 1);
});

test('lite and pro name a plan, any other model is the plan of the account', async () => {
  const client = await openClient('pro');

  for (const model of ['lite', 'pro', 'gpt-4o-transcribe']) {
    await client.audio.transcriptions.create({ file: await speech(), model });
  }
  const { data } = await read(client, '/v1/jobs');

  assert.deepEqual(
    data.map(({ plan }: { plan: string }) => plan),
    ['pro', 'pro', 'lite'],
  );
});

/** A stream of audio of three pieces, on the plan whose engine is the speech server. */
async function openStream(client: OpenAI, headers: Record<string, string> = {}) {
  const file = await toFile(wavOf(longSpeech(70, randomFrom(70)).pcm), 'long.wav');
  const request = client.audio.transcriptions.create({ file, model: 'pro', stream: true }, { headers });
  const { data: stream, response } = await request.withResponse();
  return { stream, events: stream[Symbol.asyncIterator](), jobId: response.headers.get('x-job-id')! };
}

/** Waits until the speech server holds the request for another piece, then answers it. */
async function answerPiece(requests: number, text: string): Promise<void> {
  await until('a request for a piece', () => server.requests.length >= requests);
  server.answerHeld(said(text));
}

test('the official client streams a text piece by piece; the deltas add up to it', async () => {
  const client = await openClient('pro');
  const before = server.requests.length;
  server.answerAll('hold');
  const { events, jobId } = await openStream(client);

  await answerPiece(before + 1, 'one');
  const first = (await events.next()).value;
  const { status } = await read(client, `/v1/jobs/${jobId}`);
  await answerPiece(before + 2, 'two');
  await answerPiece(before + 3, 'three');
  server.answerAll(said('from afar'));
  const rest = [];
  for (let event = await events.next(); !event.done; event = await events.next()) rest.push(event.value);
  const job = await read(client, `/v1/jobs/${jobId}`);

  assert.deepEqual(first, { type: 'transcript.text.delta', delta: 'one' });
  assert.equal(status, 'processing');
  const deltas = [first, ...rest].flatMap((event) => (event?.type === 'transcript.text.delta' ? [event.delta] : []));
  assert.deepEqual(deltas.join(''), 'one two three');
  assert.deepEqual(rest.at(-1), {
    type: 'transcript.text.done',
    text: 'one two three',
    usage: { type: 'duration', seconds: Math.ceil(job.audio.duration_seconds) },
  });
  assert.equal(job.text, 'one two three');
});

test('a failure in the middle of a stream is an error of the official client that names the job', async () => {
  const client = await openClient('pro');
  const before = server.requests.length;
  server.answerAll('hold');
  const { events, jobId } = await openStream(client);

  await answerPiece(before + 1, 'one');
  const first = (await events.next()).value;
  await until('a request for a piece', () => server.requests.length >= before + 2);
  const refusal = { status: 400, body: '{"error":"no"}' };
  // Between the three tries of the piece, the engine is probed with other speech, which it transcribes.
  server.answerNext(said('probe'), refusal, said('probe'), refusal, said('probe'));
  server.answerHeld(refusal);
  const error = await events.next().catch((cause: unknown) => cause);
  server.answerAll(said('from afar'));
  const job = await read(client, `/v1/jobs/${jobId}`);

  assert.deepEqual(first, { type: 'transcript.text.delta', delta: 'one' });
  assert.ok(error instanceof OpenAI.APIError);
  assert.deepEqual([error.type, error.code], ['internal', 500]);
  assert.equal(error.message, job.error.message);
  assert.equal(job.status, 'failed');
});

test('a client that hangs up in the middle leaves the job, and its Idempotency-Key streams that job again', async () => {
  const client = await openClient('pro');
  const before = server.requests.length;
  const headers = { 'Idempotency-Key': 'a stream' };
  server.answerAll('hold');
  const { stream, events, jobId } = await openStream(client, headers);

  await answerPiece(before + 1, 'one');
  await events.next();
  stream.controller.abort();
  server.answerAll(said('more'));
  await answerPiece(before + 2, 'more');
  const job = await until('the end of the job', async () => {
    const found = await read(client, `/v1/jobs/${jobId}`);
    return found.status === 'completed' ? found : null;
  });
  const again = await openStream(client, headers);
  const repeated = await Array.fromAsync(again.stream);
  server.answerAll(said('from afar'));
  const { data } = await read(client, '/v1/jobs');

  assert.equal(job.text, 'one more more');
  assert.equal(again.jobId, jobId);
  assert.deepEqual(
    repeated.map((event) => event.type),
    ['transcript.text.delta', 'transcript.text.done'],
  );
  assert.equal(repeated.map((event) => ('delta' in event ? event.delta : '')).join(''), job.text);
  assert.equal(data.length, 1);
});

test('the official client lists the plans as models, with what their engines can do', async () => {
  const pro = await openClient('pro');
  const lite = await openClient('lite');

  const models = (await Array.fromAsync(pro.models.list())) as (OpenAI.Model & Record<string, unknown>)[];
  const ofLite = await Array.fromAsync(lite.models.list());
  const retrieved = await pro.models.retrieve('lite');
  const unknown = await pro.models.retrieve('whisper-1').catch((error: unknown) => error);
  const notAllowed = await lite.models.retrieve('pro').catch((error: unknown) => error);

  const { created, ...model } = models[0]!;
  assert.ok(Number.isSafeInteger(created));
  assert.deepEqual(model, {
    id: 'lite',
    object: 'model',
    owned_by: 'verbatim',
    engine: 'tone',
    languages: null,
    features: ['words', 'diarize'],
    licence: null,
    attribution: null,
  });
  assert.deepEqual(
    [models[1]!.id, models[1]!['engine'], models[1]!['features']],
    ['pro', 'large', ['words', 'prompt', 'keywords', 'translate', 'diarize']],
  );
  assert.deepEqual(
    ofLite.map(({ id }) => id),
    ['lite'],
  );
  assert.deepEqual(retrieved, models[0]);
  for (const error of [unknown, notAllowed]) assert.ok(error instanceof OpenAI.NotFoundError, String(error));
});

test('the official client translates where the engine of the plan can, and learns where it cannot', async () => {
  const client = await openClient('pro');
  const before = server.requests.length;
  const ask = async (model: string) => await client.audio.translations.create({ file: await speech(), model });

  const { text } = await ask('pro');
  const refused = await ask('lite').catch((error: unknown) => error);
  const { data } = await read(client, '/v1/jobs');

  assert.equal(text, 'from afar');
  assert.deepEqual(
    server.requests.slice(before).map(({ path }) => path),
    ['/v1/audio/translations'],
  );
  assert.ok(refused instanceof OpenAI.BadRequestError);
  assert.equal(refused.param, 'model');
  assert.deepEqual([data.length, data[0].translated_to], [1, 'en']);
});

test('the official client is told who says what, also by a stream', async () => {
  const client = await openClient('lite');
  const talk = conversation([
    { voice: 1, text: 'good morning to you' },
    { voice: 0, text: 'hello how are you today', pauseSeconds: 0.7 },
    { voice: 1, text: 'that is nice', pauseSeconds: 0.7 },
  ]);
  const common = { model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' as const };
  const file = () => toFile(wavOf(talk.pcm), 'talk.wav');

  const request = { ...common, file: await file(), chunking_strategy: 'auto' as const };
  const answer = (await client.audio.transcriptions.create(request)) as unknown as OpenAI.Audio.TranscriptionDiarized;
  const stream = await client.audio.transcriptions.create({ ...common, file: await file(), stream: true });
  const events = await Array.fromAsync(stream);

  const spoken = answer.segments.map(({ speaker, text }) => [speaker, text]);
  assert.deepEqual(spoken, [
    ['A', 'good morning to you'],
    ['B', 'hello how are you today'],
    ['A', 'that is nice'],
  ]);
  assert.equal(answer.text, spoken.map(([, text]) => text).join(' '));
  const segments = events.filter((event) => event.type === 'transcript.text.segment');
  assert.deepEqual(segments, answer.segments);
  assert.equal(events.map((event) => ('delta' in event ? event.delta : '')).join(''), answer.text);
  assert.equal(events.at(-1)!.type, 'transcript.text.done');
});

test('prompt, keywords and languages of the official client reach the engine', async () => {
  const client = await openClient('pro');
  const before = server.requests.length;
  const context = { prompt: 'A lecture.', keywords: ['Kennedy', 'Cape Canaveral'], languages: ['en'] };

  await client.audio.transcriptions.create({ file: await speech(), model: 'pro', ...context });
  const { data } = await read(client, '/v1/jobs');

  const [fields] = server.requests[before]!.form.split('name="file"');
  assert.match(fields!, /name="prompt"\r\n\r\nA lecture\. Kennedy, Cape Canaveral\r\n/);
  assert.match(fields!, /name="language"\r\n\r\nen\r\n/);
  const { languages: _, ...options } = context;
  assert.deepEqual(data[0].options, { language: 'en', ...options });
});
