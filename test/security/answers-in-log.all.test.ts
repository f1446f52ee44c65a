import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { randomFrom } from '../fixtures/random.ts';
import { until } from '../fixtures/until.ts';
import { testAuthority } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

const SEED = 7_311;
const ROUNDS = 40;
const MAX_KEPT_BYTES = 4 * 1024;

/** A TLS receiver that answers with the bytes that it is given, whatever they are. */
async function openRawReceiver() {
  let answer = Buffer.alloc(0);
  const server = tls.createServer(testAuthority.issue({ hosts: ['127.0.0.1'] }), (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    answerWith: (headers: Buffer, body: Buffer) => {
      const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n`);
      answer = Buffer.concat([head, headers, Buffer.from('\r\n\r\n'), body]);
    },
    close: () => server.close(),
  };
}

let receiver: Awaited<ReturnType<typeof openRawReceiver>>;
let service: Awaited<ReturnType<typeof openWebhookService>>;

before(async () => {
  receiver = await openRawReceiver();
  service = await openWebhookService([receiver.port]);
  await service.start('deliverer');
});

after(async () => {
  await service[Symbol.asyncDispose]();
  receiver.close();
});

/** Sends a test ping to the receiver, and reads the logged answer. */
async function openLog() {
  const { call, webhook } = await service.caller(await service.start('api'));
  const { path } = await webhook(`https://127.0.0.1:${receiver.port}/`);
  return async (headers: Buffer, body: Buffer) => {
    receiver.answerWith(headers, body);
    const { event_id } = (await call('POST', `${path}/test`)).json;
    const id = await until('the entry of a ping', async () => {
      const { data } = (await call('GET', `${path}/deliveries?event_id=${event_id}&status=succeeded`)).json;
      return data[0]?.id;
    });
    const { status, text } = await call('GET', `${path}/deliveries/${id}`);
    assert.equal(status, 200);
    return JSON.parse(text).response as { headers: Record<string, string>; body: string };
  };
}

test(`whatever bytes a receiver answers with, the entry in the log is valid JSON (seed ${SEED})`, async () => {
  const kept = await openLog();
  const random = randomFrom(SEED);
  const bytes = (length: number, isAllowed: (byte: number) => boolean) =>
    Buffer.from(
      Array.from({ length }, () => random.pick([random.integer(256), 0x22, 0x5c, 0xed, 0xa0])).filter(isAllowed),
    );

  const note = await kept(Buffer.from('x-note: \\u0000" \\'), Buffer.from('\\u0000" \\'));
  for (let round = 0; round < ROUNDS; round++) {
    // Bytes that HTTP forbids in a header are no valid answer.
    const value = bytes(random.integer(2_000), (byte) => byte >= 0x20 && byte !== 0x7f);
    const body = bytes(random.integer(2_000), () => true);
    const { headers, body: shown } = await kept(Buffer.concat([Buffer.from('x-any: a'), value]), body);
    // Bytes that are no UTF-8 are shown as Windows-1252, which gives each of them one character.
    assert.equal(shown, isUtf8(body) ? body.toString('utf8') : new TextDecoder('windows-1252').decode(body));
    assert.ok(headers['x-any']!.startsWith('a'));
  }

  assert.deepEqual([note.headers['x-note'], note.body], ['\\u0000" \\', '\\u0000" \\']);
});

test('of an answer with 15 KB of headers the log keeps the first 4 KiB', async () => {
  const kept = await openLog();
  const many = Array.from({ length: 15 }, (_, index) => `x-${index}: ${'"'.repeat(1_000)}`).join('\r\n');

  const { headers } = await kept(Buffer.from(many), Buffer.from('ok'));

  assert.ok(Buffer.byteLength(JSON.stringify(headers)) <= MAX_KEPT_BYTES);
  assert.deepEqual(Object.keys(headers), ['content-length', 'x-0', 'x-1', 'x-2']);
});

test('test pings, redeliveries and recoveries share a limit of their own', async () => {
  const { call, webhook } = await service.caller(await service.start('api', { RATE_LIMIT_RESEND: '3/60' }));
  const { path } = await webhook(`https://127.0.0.1:${receiver.port}/`);
  const unknown = `${path}/deliveries/dlv_01kamz2f3q8r5t7v9wxyzabcde`;

  const answers = [
    await call('POST', `${path}/test`),
    await call('POST', `${unknown}/redeliver`),
    await call('POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z' }),
    await call('POST', `${path}/test`),
    await call('POST', `${unknown}/redeliver`),
    await call('POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z' }),
    await call('GET', path),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 404, 202, 429, 429, 429, 200],
  );
  assert.deepEqual([answers[3]!.headers.get('ratelimit-limit'), answers[3]!.json.error.type], ['3', 'rate_limited']);
});
