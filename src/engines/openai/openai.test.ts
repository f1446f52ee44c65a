import assert from 'node:assert/strict';
import test from 'node:test';
import { asked, isEngineError, testConformance, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openSpeechServer, type SpeechAnswer } from '../../../test/fixtures/servers/speech-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { EngineFailure } from '../../rules/fault.ts';
import { type EngineError, SAMPLE_RATE } from '../engine.ts';
import { openOpenai } from './openai.ts';

const speech = new Int16Array(2 * SAMPLE_RATE).fill(1000);
const USUAL = {
  body: JSON.stringify({
    text: 'good morning',
    language: 'english',
    segments: [{ start: 0.1, end: 1.5, text: ' good morning', avg_logprob: -0.1 }],
    words: [
      { word: 'good', start: 0.1, end: 0.5 },
      { word: 'morning', start: 0.6, end: 9 },
    ],
  }),
};

/** A server that answers every request with the same two words. */
async function openServer() {
  const server = await openSpeechServer(USUAL);
  const engine = openOpenai({ baseUrl: server.baseUrl, model: 'tiny', apiKey: 'a-key', slots: 2 });
  return { server, engine };
}

testConformance('openai', async () => {
  const { server, engine } = await openServer();
  return {
    engine,
    speech,
    expected: /^good morning$/,
    stall: () => server.answerAll('stall'),
    unstall: () => server.answerAll(USUAL),
    crash: async () => server.crash(),
    processes: () => [],
    isRunning: () => false,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
});

const CONTEXTS: [{ prompt?: string; keywords?: string[] }, sent: string | null][] = [
  [{}, null],
  [{ keywords: [] }, null],
  [{ prompt: 'A lecture – Über uns.' }, 'A lecture – Über uns.'],
  [{ keywords: ['Kennedy', 'Cape Canaveral'] }, 'Kennedy, Cape Canaveral'],
  [{ prompt: 'A lecture.', keywords: ['Kennedy', 'Gagarin'] }, 'A lecture. Kennedy, Gagarin'],
];
for (const [context, sent] of CONTEXTS) {
  test(`the server gets ${JSON.stringify(context)} as the prompt ${sent}`, async () => {
    const { server, engine } = await openServer();
    await using _server = server;
    await using _engine = engine;

    await engine.transcribe(speech, { ...asked({}), ...context });

    const form = Buffer.from(server.requests[0]!.form, 'latin1').toString('utf8');
    assert.equal(/name="prompt"\r\n\r\n(.*?)\r\n/.exec(form)?.[1] ?? null, sent);
    assert.deepEqual(engine.features, ['words', 'prompt', 'keywords', 'translate']);
  });
}

test('the request carries the piece as a WAV file, the fields of the API and the key', async () => {
  const { server, engine } = await openServer();
  await using _server = server;
  await using _engine = engine;

  const transcript = await engine.transcribe(speech, asked({ language: 'en-GB' }));

  const { authorization, form } = server.requests[0]!;
  assert.equal(authorization, 'Bearer a-key');
  assert.match(form, /name="model"\r\n\r\ntiny\r\n/);
  assert.match(form, /name="language"\r\n\r\nen\r\n/);
  assert.match(form, /name="response_format"\r\n\r\nverbose_json\r\n/);
  assert.match(form, /filename="audio.wav"\r\ncontent-type: audio\/wav\r\n\r\nRIFF/);
  assert.deepEqual(transcript, {
    language: 'en',
    segments: [
      {
        text: 'good morning',
        startSeconds: 0.1,
        endSeconds: 1.5,
        confidence: 0.905,
        words: [
          { text: 'good', startSeconds: 0.1, endSeconds: 0.5, confidence: null },
          // The server's time lies past the end of the piece.
          { text: 'morning', startSeconds: 0.6, endSeconds: 2, confidence: null },
        ],
      },
    ],
  });
});

test('a translation is asked of the endpoint for it; its language is that of the request, and it has no words', async () => {
  const { server, engine } = await openServer();
  await using _server = server;
  await using _engine = engine;

  const spoken = await engine.transcribe(speech, asked({ language: 'de', translateTo: 'en', prompt: 'A lecture.' }));
  const unknown = await engine.transcribe(speech, asked({ translateTo: 'en' }));
  await engine.transcribe(speech, asked({ translateTo: null }));

  assert.deepEqual(
    server.requests.map(({ path }) => path),
    ['/v1/audio/translations', '/v1/audio/translations', '/v1/audio/transcriptions'],
  );
  const names = [...server.requests[0]!.form.matchAll(/; name="(\w+(?:\[\])?)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ['model', 'response_format', 'prompt', 'file']);
  assert.deepEqual([spoken.language, unknown.language], ['de', null]);
  assert.deepEqual(spoken.segments[0]!.words, []);
  assert.equal(spoken.segments[0]!.text, 'good morning');
});

test('without a key no authorization is sent', async () => {
  await using server = await openSpeechServer(USUAL);
  await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

  await engine.transcribe(speech, asked());

  assert.equal(server.requests[0]!.authorization, undefined);
});

const HEALS: [string, SpeechAnswer[]][] = [
  ['429 with Retry-After', [{ status: 429, headers: { 'retry-after': '0' }, body: '{}' }]],
  ['503 twice', Array(2).fill({ status: 503, headers: { 'retry-after': '0' }, body: 'busy' })],
  ['429 with a date', [{ status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, body: '{}' }]],
  ['503 seven times', Array(7).fill({ status: 503, headers: { 'retry-after': '0' }, body: 'loading the model' })],
  ['500 once', [{ status: 500, body: '{"detail":"oops"}' }]],
  ['a broken connection', ['hang up']],
];

for (const [what, answers] of HEALS) {
  test(`${what} is retried`, async () => {
    const { server, engine } = await openServer();
    await using _server = server;
    await using _engine = engine;
    server.answerNext(...answers);

    assert.equal(textOf(await engine.transcribe(speech, asked())), 'good morning');
  });
}

const TELLING: [SpeechAnswer, EngineFailure, RegExp][] = [
  ['hang up', { kind: 'connection' }, /^The speech server closed the connection\. See/],
  [{ status: 401, body: 'no' }, { kind: 'status', status: 401 }, /refuses the key \(401\)\. See ENGINE_API_KEY/],
  [{ status: 404, body: 'no' }, { kind: 'status', status: 404 }, /status 404\. Correct the base URL .* \/v1/],
  [{ status: 308, body: 'no' }, { kind: 'status', status: 308 }, /status 308\. It redirects/],
  [{ status: 500, body: 'no' }, { kind: 'status', status: 500 }, /answers with the status 500\. See its log/],
  [{ status: 400, body: 'no' }, { kind: 'status', status: 400 }, /failed on this audio/],
  [{ body: '<html>Welcome</html>' }, { kind: 'piece' }, /failed on this audio/],
];
for (const [answer, failure, message] of TELLING) {
  test(`an error tells what the server did: ${JSON.stringify(failure)}`, async () => {
    await using server = await openSpeechServer(answer);
    await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

    await assert.rejects(engine.transcribe(speech, asked()), (error: EngineError) => {
      assert.deepEqual(error.failure, failure);
      return message.test(error.message);
    });
  });
}

test('at most `slots` requests are under way at once', async () => {
  await using server = await openSpeechServer('stall');
  await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 2 });
  const leaving = new AbortController();

  const calls = Array.from({ length: 5 }, () => engine.transcribe(speech, asked({ signal: leaving.signal })));
  await until('two requests', () => server.requests.length === 2);
  leaving.abort();
  await Promise.allSettled(calls);

  assert.equal(server.requests.length, 2);
});

test('warming up requests no transcript, and fails when nothing listens', async () => {
  const server = await openSpeechServer({ status: 500, body: 'no' });
  await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

  await engine.warmUp();
  const requests = server.requests.length;
  await server[Symbol.asyncDispose]();

  assert.equal(requests, 0);
  await assert.rejects(engine.warmUp(), (error: Error) => {
    return (
      isEngineError('engine_error')(error) && /cannot be reached: nothing listens at its address/.test(error.message)
    );
  });
});

const FAILS: [string, SpeechAnswer, number][] = [
  ['a permanent 500', { status: 500, body: 'no' }, 3],
  ['a refusal', { status: 400, body: '{"error":{"message":"no"}}' }, 1],
  ['an error with status 200', { body: '{"error":{"message":"failed to read audio data"}}' }, 1],
  ['an error beside a text', { body: '{"text":"","error":"no"}' }, 1],
  ['HTML', { body: '<html>Welcome</html>' }, 1],
  ['JSON of another kind', { body: '[1,2,3]' }, 1],
  ['a text that is not a string', { body: '{"text":{"a":1}}' }, 1],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: '' }, 1],
  ['an endless response', 'flood', 1],
];

for (const [what, answer, requests] of FAILS) {
  test(`${what} is an engine error after ${requests} requests`, async () => {
    await using server = await openSpeechServer(answer);
    await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

    await assert.rejects(engine.transcribe(speech, asked()), isEngineError('engine_error'));

    assert.equal(server.requests.length, requests);
  });
}

const TOO_SLOW: [string, SpeechAnswer][] = [
  ['a server that never answers', 'stall'],
  ['a server that stops in the middle', 'stall after the head'],
  ['a Retry-After of an hour', { status: 429, headers: { 'retry-after': '3600' }, body: '{}' }],
];

for (const [what, answer] of TOO_SLOW) {
  test(`${what} is a timeout`, async () => {
    await using server = await openSpeechServer(answer);
    await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

    await assert.rejects(engine.transcribe(speech, asked({ timeoutMs: 300 })), isEngineError('engine_timeout'));
  });
}

const TOLERATED: [string, object, unknown][] = [
  ['text alone', { text: ' good morning ' }, [['good morning', 0, 2, 0]]],
  ['no text', { text: '' }, []],
  ['segments without times', { text: 'a b', segments: [{ text: 'a b' }] }, [['a b', 0, 2, 0]]],
  ['malformed lists', { text: 'a', segments: 'x', words: [null, 3, { word: 7 }] }, [['a', 0, 2, 0]]],
  ['words without segments', { text: 'a', words: [{ word: 'a', start: 1, end: 1.5 }] }, [['a', 0, 2, 1]]],
  [
    'times out of order',
    {
      text: 'a b',
      segments: [
        { text: 'b', start: 1, end: 0 },
        { text: 'a', start: -5, end: 0.5 },
      ],
    },
    [
      ['a', 0, 0.5, 0],
      // Without an end that is one, as long as there is no other text.
      ['b', 1, 2, 0],
    ],
  ],
];

for (const [what, body, expected] of TOLERATED) {
  test(`${what} is accepted`, async () => {
    await using server = await openSpeechServer({ body: JSON.stringify(body) });
    await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: 1 });

    const { segments } = await engine.transcribe(speech, asked());

    assert.deepEqual(
      segments.map((one) => [one.text, one.startSeconds, one.endSeconds, one.words.length]),
      expected,
    );
  });
}
