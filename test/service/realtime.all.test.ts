import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test, { after } from 'node:test';
import { WebSocket } from 'ws';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const TONE_ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const FORMAT = { type: 'audio/pcm', rate: 16_000 };

// biome-ignore lint/suspicious/noExplicitAny: events of many types
type Event = any;

/** A client of OpenAI's Realtime API. */
async function connect(service: TestService, key: string, query = 'intent=transcription') {
  const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime?${query}`;
  const socket = new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`]);
  const events: Event[] = [];
  const waiting: (() => void)[] = [];
  socket.on('message', (data) => {
    events.push(JSON.parse(String(data)));
    for (const look of waiting) look();
  });
  await once(socket, 'open');
  const say = (event: object) => socket.send(JSON.stringify(event));
  return {
    events,
    protocol: socket.protocol,
    say,
    append: (samples: Int16Array) =>
      say({ type: 'input_audio_buffer.append', audio: Buffer.from(samples.buffer).toString('base64') }),
    update: (input: object) =>
      say({
        type: 'session.update',
        session: { type: 'transcription', audio: { input: { format: FORMAT, ...input } } },
      }),
    /** The nth event of a type. */
    nth(type: string, count = 1): Promise<Event> {
      return new Promise((resolve) => {
        const look = () => {
          const found = events.filter((event) => event.type === type)[count - 1];
          if (found) resolve(found);
        };
        waiting.push(look);
        look();
      });
    },
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

const COMPLETED = 'conversation.item.input_audio_transcription.completed';

// A start takes two seconds.
const shared = await openService(TONE_ENGINES);
after(() => shared[Symbol.asyncDispose]());

test("a client of OpenAI's API that commits by itself gets an item for each commit, also for one without speech", async () => {
  const service = shared;
  const { key } = await service.account();
  const client = await connect(service, key);
  client.update({ turn_detection: null, transcription: { model: 'whatever', languages: ['en'], keywords: ['tone'] } });
  client.append(toneSpeech('hello world'));
  client.say({ type: 'input_audio_buffer.commit' });
  client.say({ type: 'input_audio_buffer.commit' });
  client.say({ type: 'response.create', event_id: 'mine' });

  await client.nth(COMPLETED, 2);
  const error = await client.nth('error');
  const job = await client.nth('verbatim.job');
  await client.close();

  assert.equal(client.protocol, 'realtime');
  const spoken = client.events.find(({ type, transcript }) => type === COMPLETED && transcript !== '');
  assert.deepEqual([spoken.transcript, spoken.usage.type], ['hello world', 'duration']);
  const [first, second] = client.events.filter(({ type }) => type === 'input_audio_buffer.committed');
  assert.deepEqual([first.previous_item_id, second.previous_item_id], [null, first.item_id]);
  assert.equal(
    client.events.some(({ type }) => type === 'input_audio_buffer.speech_started'),
    false,
  );
  assert.deepEqual([error.error.event_id, error.error.type], ['mine', 'invalid_request_error']);
  const answer = await fetch(`${service.baseUrl}/v1/jobs/${job.job_id}?wait=20`, { headers: { 'x-api-key': key } });
  const { status, text } = (await answer.json()) as Event;
  assert.deepEqual([status, text], ['completed', 'hello world']);
});

test('the server ends turns by silence, and a client secret of a browser begins sessions and does nothing else', async () => {
  const service = shared;
  const { key } = await service.account();
  const call = (route: string, secret: string, body: object) =>
    fetch(service.baseUrl + route, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const session = { type: 'transcription', audio: { input: { format: FORMAT } } };
  const made = (await (await call('/v1/realtime/client_secrets', key, { session })).json()) as Event;
  const client = await connect(service, made.value);
  client.append(toneSpeech('hello'));
  client.append(new Int16Array(16_000));
  client.append(toneSpeech('world'));
  client.append(new Int16Array(16_000));

  const texts = [await client.nth(COMPLETED), await client.nth(COMPLETED, 2)].map(({ transcript }) => transcript);
  await client.close();

  assert.deepEqual(texts, ['hello', 'world']);
  const started = client.events.filter(({ type }) => type === 'input_audio_buffer.speech_started');
  const stopped = client.events.filter(({ type }) => type === 'input_audio_buffer.speech_stopped');
  assert.deepEqual([started.length, stopped.length], [2, 2]);
  assert.ok(stopped[0].audio_end_ms < started[1].audio_start_ms);
  assert.deepEqual(client.events[0].session.audio.input.format, FORMAT);
  assert.equal((await call('/v1/live', made.value, {})).status, 401);
});

test("a suspended account's client secrets and session tokens are refused", async () => {
  const service = shared;
  const { id, key } = await service.account();
  const post = async (route: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await (await fetch(service.baseUrl + route, { method: 'POST', headers, body: '{}' })).json()) as Event;
  };
  const secret = await post('/v1/realtime/client_secrets', key);
  const session = await post('/v1/live', key);
  await post(`/admin/v1/accounts/${id}/suspend`, service.adminToken);

  const openings = [
    await statusOf(service, '/v1/realtime?intent=transcription', `realtime, openai-insecure-api-key.${secret.value}`),
    await statusOf(service, session.path, `verbatim.live.v1, token.${session.token}`),
  ];

  assert.deepEqual(openings, [403, 403]);
});

/** The status that a handshake is answered with. */
async function statusOf(service: TestService, route: string, protocols: string): Promise<number> {
  const socket = new WebSocket(service.baseUrl.replace('http', 'ws') + route, protocols.split(', '));
  const answer = await Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number),
  ]);
  socket.on('error', () => undefined);
  socket.terminate();
  return answer;
}

const HANDSHAKE = {
  Host: 'x',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

test('a handshake that cannot be served is answered by the error of any endpoint, a broken frame by its close code', async () => {
  const service = shared;
  const { key } = await service.account();
  const port = Number(new URL(service.baseUrl).port);
  const answers: [object, number, string | undefined][] = [
    [{ ...HANDSHAKE, 'X-API-Key': key, 'Sec-WebSocket-Version': '12' }, 400, 'Sec-WebSocket-Version'],
    [{ ...HANDSHAKE, 'X-API-Key': key, 'Sec-WebSocket-Key': 'short' }, 400, 'Sec-WebSocket-Key'],
    [{ Host: 'x', 'X-API-Key': key }, 400, 'Upgrade'],
    [HANDSHAKE, 401, undefined],
  ];
  for (const [headers, status, param] of answers) {
    const answer = await exchange(port, headers, Buffer.alloc(0));
    const [head, body] = answer.toString('latin1').split('\r\n\r\n');
    assert.match(head!, new RegExp(`^HTTP/1.1 ${status} `));
    assert.equal(JSON.parse(body!.slice(body!.indexOf('{'), body!.lastIndexOf('}') + 1)).error.param, param);
  }
  const frames: [Buffer, number][] = [
    // Not masked.
    [Buffer.of(0x81, 0x02, 0x7b, 0x7d), 1002],
    // A reserved bit, a reserved opcode, a fragmented ping, a continuation without a start.
    [masked(0xc1, Buffer.from('{}')), 1002],
    [masked(0x83, Buffer.from('{}')), 1002],
    [masked(0x09, Buffer.from('{}')), 1002],
    [masked(0x80, Buffer.from('{}')), 1002],
    // Text that is not UTF-8.
    [masked(0x81, Buffer.of(0xff, 0xfe)), 1007],
  ];
  for (const [frame, code] of frames) {
    const answer = await exchange(port, { ...HANDSHAKE, 'X-API-Key': key }, frame);
    const close = answer.lastIndexOf(Buffer.of(0x88, 0x02));
    assert.equal(answer.readUInt16BE(close + 2), code, frame.toString('hex'));
  }
  assert.equal((await fetch(`${service.baseUrl}/healthz`)).status, 200);
});

function masked(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(first, 0x80 | payload.length, 0, 0, 0, 0), payload]);
}

/** What the server sends until it ends the connection. */
async function exchange(port: number, headers: object, frame: Buffer): Promise<Buffer> {
  const socket = net.connect(port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /v1/realtime?intent=transcription HTTP/1.1\r\n${lines.join('')}\r\n`);
  // In the segment of the handshake: it must not be lost.
  socket.write(frame);
  if (frame.length === 0) socket.end();
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

test('an account without a balance is refused at the handshake, and an eleventh connection without audio', async () => {
  await using service = await openService({ ...TONE_ENGINES, RATE_LIMIT_LIVE: 'off' });
  const poor = await service.account({ plan: 'lite', credits: 0 });
  const refused = await connect(service, poor.key);
  const account = await service.account({ plan: 'lite', credits: 100 });
  const clients = [];
  for (let socket = 0; socket < 11; socket++) clients.push(await connect(service, account.key));
  const [first, eleventh] = [clients[0]!, clients[10]!];
  await clients[9]!.nth('session.created');
  const tooMany = await eleventh.nth('error');
  first.append(toneSpeech('hello'));
  await first.nth('verbatim.job');
  const next = await connect(service, account.key);
  await next.nth('session.created');

  assert.equal((await refused.nth('error')).error.code, 'insufficient_balance');
  assert.equal(tooMany.error.code, 'rate_limited');
});
