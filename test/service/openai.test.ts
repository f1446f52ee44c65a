import assert from 'node:assert/strict';
import test from 'node:test';
import OpenAI, { toFile } from 'openai';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import type { TestService } from '../fixtures/service.ts';
import { openService } from '../fixtures/service.ts';

const TEXT = 'hello quiet world';
const MODELS = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };

/** The official client, unchanged but for its base URL and key. */
async function openClient(service: TestService, plan: 'lite' | 'pro' = 'pro', credits: number | null = null) {
  const { key } = await service.account({ plan, credits });
  return new OpenAI({ apiKey: key, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
}

const speech = () => toFile(toneWav(TEXT), 'speech.wav');
const parametersOf = async () => ({ file: await speech(), model: 'whisper-1' });

test('the official client gets every format, with times', async () => {
  await using service = await openService(MODELS);
  const client = await openClient(service);
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
  assert.deepEqual([verbose.text, verbose.language], [TEXT, 'english']);
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
  await using service = await openService({ ...MODELS, RATE_LIMIT_TRANSCRIBE: '9/600' });
  const client = await openClient(service, 'lite');
  const stranger = new OpenAI({ apiKey: 'sk-none', baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
  const poor = await openClient(service, 'lite', 0);
  const noise = await toFile(Buffer.from('this is no sound'), 'a.mp3');
  const ask = async (by: OpenAI, more: object = {}) => {
    const body = { ...(await parametersOf()), ...more } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming;
    return await by.audio.transcriptions.create(body).then(
      () => 'no error',
      (error: unknown) => error,
    );
  };

  const unknownKey = await ask(stranger);
  const streaming = await ask(client, { stream: true });
  const format = await ask(client, { response_format: 'diarized_json' });
  const granularity = await ask(client, { response_format: 'verbose_json', timestamp_granularities: ['letter'] });
  const pro = await ask(client, { model: 'pro' });
  const notAudio = await ask(client, { file: noise });
  const tooPoor = await ask(poor);
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
  assert.ok(tooPoor instanceof OpenAI.APIError && tooPoor.status === 402);
  assert.equal((streaming as InstanceType<typeof OpenAI.APIError>).param, 'stream');
  assert.ok(tooMany instanceof OpenAI.RateLimitError);
  assert.ok(Number(tooMany.headers.get('retry-after')) >= 1);
});

test('a wait that runs out names the job, and the client does not pay for a second one', async () => {
  await using service = await openService({ ...MODELS, SYNC_WAIT_SECONDS: '0', ROLES: 'api' });
  const { key } = await service.account();
  const client = new OpenAI({ apiKey: key, baseURL: `${service.baseUrl}/v1`, maxRetries: 2 });

  const error = await client.audio.transcriptions.create(await parametersOf()).catch((cause: unknown) => cause);
  const list = await fetch(`${service.baseUrl}/v1/jobs`, { headers: { 'x-api-key': key } });
  const { data } = (await list.json()) as { data: { id: string; status: string }[] };

  assert.ok(error instanceof OpenAI.InternalServerError);
  assert.deepEqual([error.status, error.type, data.length], [503, 'unavailable', 1]);
  assert.ok(error.message.includes(data[0]!.id));
  assert.ok(Number(error.headers.get('retry-after')) >= 1);
});

test('lite and pro name a plan, any other model is the plan of the account', async () => {
  await using service = await openService(MODELS);
  const client = await openClient(service);
  const { audio, apiKey } = client;

  for (const model of ['lite', 'pro', 'gpt-4o-transcribe']) {
    await audio.transcriptions.create({ file: await speech(), model });
  }
  const list = await fetch(`${service.baseUrl}/v1/jobs`, { headers: { 'x-api-key': apiKey ?? '' } });
  const { data } = (await list.json()) as { data: { plan: string }[] };

  assert.deepEqual(
    data.map(({ plan }) => plan),
    ['pro', 'pro', 'lite'],
  );
});
