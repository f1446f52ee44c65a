import assert from 'node:assert/strict';
import test from 'node:test';
import { asked, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openSpeechServer, type SpeechAnswer } from '../../../test/fixtures/servers/speech-server.ts';
import { type EngineError, SAMPLE_RATE } from '../engine.ts';
import { openOpenai } from './openai.ts';

const speech = new Int16Array(2 * SAMPLE_RATE).fill(1000);
const SAID = { body: JSON.stringify({ text: 'good morning' }) };
const NO_MODEL = { status: 404, body: '{"detail":"Model large-v4 is not installed"}' };
const NO_ENDPOINT = { status: 404, body: '{"detail":"Not Found"}' };

async function open(answer: SpeechAnswer, models: string[] | null, model: string | null = 'large-v4') {
  const server = await openSpeechServer(answer);
  if (models !== null) server.listModels(...models);
  const clock = openManualClock();
  const engine = openOpenai({ baseUrl: server.baseUrl, model, apiKey: null, slots: 2 }, clock);
  return {
    server,
    engine,
    clock,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The messages of an error and its causes. */
function messagesOf(error: unknown): string[] {
  const { message, cause } = error as Partial<Error>;
  return [message ?? '', ...(cause === undefined ? [] : messagesOf(cause))];
}

test('a model that the server neither lists nor takes fails the warm-up; its names are for the operator', async () => {
  await using opened = await open(NO_MODEL, ['large-v3', 'tiny']);

  const error = await opened.engine.warmUp().then(
    () => assert.fail('accepted'),
    (cause: EngineError) => cause,
  );

  const [message, ...causes] = messagesOf(error);
  assert.match(message!, /^The speech server does not have the model large-v4\. Name one of its models/);
  assert.doesNotMatch(message!, /large-v3|not installed/);
  assert.match(causes.join(' '), /its models: large-v3, tiny .*is not installed/);
  assert.deepEqual(error.failure, { kind: 'start' });
});

const ACCEPTED: [string, string[] | null, string | null, requests: number][] = [
  ['a model that it lists', ['tiny', 'large-v4'], 'large-v4', 0],
  ['any model, where it lists none', [], 'large-v4', 0],
  ['any model, where it has no list', null, 'large-v4', 0],
  ['no name of a model', ['tiny'], null, 0],
  ['a name that it does not list, and takes', ['tiny'], 'large-v4', 1],
];
for (const [what, models, model, requests] of ACCEPTED) {
  test(`warming up accepts ${what}, after ${requests} transcripts in two checks`, async () => {
    await using opened = await open(SAID, models, model);

    await opened.engine.warmUp();
    await opened.engine.warmUp();

    assert.equal(opened.server.requests.length, requests);
  });
}

test('a model that the server has no longer is named by the request that it refuses', async () => {
  await using opened = await open(SAID, ['large-v4']);
  await opened.engine.warmUp();

  opened.server.listModels('tiny');
  opened.server.answerAll(NO_MODEL);

  await assert.rejects(opened.engine.transcribe(speech, asked()), /does not have the model large-v4/);
});

test('a server that lists the model and refuses audio is not said to lack the model', async () => {
  await using opened = await open({ status: 400, body: 'bad audio' }, ['large-v4']);

  await assert.rejects(opened.engine.transcribe(speech, asked()), /failed on this audio/);
});

test('a server without translations is told by a second refusal with a transcript between, for an hour', async () => {
  await using opened = await open(SAID, null);
  const { engine, server, clock } = opened;
  const translate = () => engine.transcribe(speech, asked({ translateTo: 'en' }));
  const failure = (cause: EngineError) => cause.failure;

  server.answerNext(NO_ENDPOINT, NO_ENDPOINT);
  const refusals = [await translate().catch(failure), await translate().catch(failure)];
  await engine.transcribe(speech, asked());
  const before = engine.features;
  server.answerNext(NO_ENDPOINT);
  await assert.rejects(translate(), (error: EngineError) => {
    assert.equal(error.message, 'The speech server cannot translate. Send the audio without translate_to.');
    return error.failure.kind === 'request';
  });
  const after = engine.features;
  await clock.advance(3_600_000);

  assert.deepEqual(refusals, Array(2).fill({ kind: 'status', status: 404 }));
  assert.deepEqual(before, ['words', 'prompt', 'keywords', 'translate']);
  assert.deepEqual(after, ['words', 'prompt', 'keywords']);
  assert.deepEqual(engine.features, before);
  assert.equal(textOf(await translate()), 'good morning');
});
