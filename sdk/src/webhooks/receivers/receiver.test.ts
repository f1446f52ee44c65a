import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RECEIVER_SECRET, SIGNED_AT, signedDelivery } from '../../../../test/fixtures/webhooks/signed-delivery.ts';
import type { WebhookVerificationError } from '../verification.ts';
import { rememberEvents } from './event-memory.ts';
import { createReceiver, type Handlers } from './receiver.ts';

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

function receiverOf(on: Handlers, more: Partial<Parameters<typeof createReceiver>[0]> = {}) {
  return createReceiver({ secret: RECEIVER_SECRET, on, now: () => SIGNED_AT, ...more });
}

test('an event is passed to the handler of its type, with the delivery id and attempt of its headers', async () => {
  const seen: unknown[] = [];
  const receiver = receiverOf({
    'transcription.completed': ({ data: { job } }, delivery) => seen.push([job.text, delivery]),
    'transcription.failed': () => seen.push('wrong handler'),
  });

  const reply = await receiver.receive(signedDelivery());

  assert.deepEqual(reply, { status: 204, message: null });
  assert.deepEqual(seen, [['Grüße, 世界 🙂', { deliveryId: 'dlv_1', attempt: 2 }]]);
});

for (const type of ['webhook.test', 'transcription.archived', 'toString', '__proto__']) {
  test(`an event of the type ${type} without a handler is accepted`, async () => {
    const receiver = receiverOf({ 'transcription.completed': () => assert.fail() });

    assert.equal((await receiver.receive(signedDelivery({ type }))).status, 204);
  });
}

const { headers, body } = signedDelivery();
const REFUSALS: [what: string, delivery: Parameters<ReturnType<typeof receiverOf>['receive']>[0], 400 | 401][] = [
  ['with a changed byte', { headers, body: body.replace('42', '43') }, 401],
  ['by another secret', signedDelivery({ secret: OTHER_SECRET }), 401],
  ['without headers', { headers: {}, body }, 400],
  ['with a broken timestamp', { headers: { ...headers, 'X-Service-Timestamp': 'now' }, body }, 400],
];

for (const [what, delivery, status] of REFUSALS) {
  test(`a delivery ${what} is refused with ${status}, and no handler is called`, async () => {
    const refused: WebhookVerificationError[] = [];
    const receiver = receiverOf(
      { 'transcription.completed': () => assert.fail() },
      { onRefused: (error) => refused.push(error) },
    );

    const reply = await receiver.receive(delivery);

    assert.deepEqual(reply, { status, message: refused[0]?.message });
  });
}

test('the explanation of a refusal is given on request', async () => {
  const verdicts: Promise<string>[] = [];
  const onRefused: Parameters<typeof createReceiver>[0]['onRefused'] = (_error, explain) =>
    verdicts.push(explain().then(({ verdict }) => verdict));

  await receiverOf({}, { onRefused }).receive({ headers, body: `${body}\n` });
  await receiverOf({}, { onRefused, now: () => SIGNED_AT + 301_000 }).receive({ headers, body });

  assert.deepEqual(await Promise.all(verdicts), ['body_whitespace', 'stale_timestamp']);
});

test('in development the verdict of a refusal is printed, and nowhere else', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const before = process.env['NODE_ENV'];
  t.after(() => {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  });
  const refuse = async (environment: string, more = {}) => {
    process.env['NODE_ENV'] = environment;
    await receiverOf({}, more).receive({ headers, body: JSON.stringify(JSON.parse(body), null, 2) });
    const lines = warn.mock.calls.map(({ arguments: [text] }) => String(text));
    warn.mock.resetCalls();
    return lines;
  };

  const [printed = ''] = await refuse('development');

  assert.match(printed, /^A delivery was refused \(body_parsed\)\. Verify the raw bytes/);
  assert.equal(printed.includes(RECEIVER_SECRET.slice(6)), false);
  assert.deepEqual([await refuse('production'), await refuse('test')], [[], []]);
  assert.deepEqual(await refuse('development', { onRefused: () => undefined }), []);
});

test('a delivery older than five minutes is refused, unless toleranceSeconds allows it', async () => {
  const late = { now: () => SIGNED_AT + 301_000 };

  assert.equal((await receiverOf({}, late).receive(signedDelivery())).status, 401);
  assert.equal((await receiverOf({}, { ...late, toleranceSeconds: 600 }).receive(signedDelivery())).status, 204);
});

test('during a rotation either of two secrets verifies a delivery', async () => {
  const receiver = receiverOf({}, { secret: [OTHER_SECRET, RECEIVER_SECRET] });

  assert.equal((await receiver.receive(signedDelivery())).status, 204);
});

test('a malformed secret throws when the receiver is created', () => {
  for (const secret of ['', 'whsec_short', [], undefined as never]) {
    assert.throws(() => receiverOf({}, { secret }), { code: 'bad_secret' });
  }
});

test('with a memory an event that is sent again is accepted and not handled again', async () => {
  let handled = 0;
  const receiver = receiverOf({ 'transcription.completed': () => handled++ }, { memory: rememberEvents() });

  const replies = [await receiver.receive(signedDelivery()), await receiver.receive(signedDelivery())];

  assert.deepEqual(
    replies.map(({ status }) => status),
    [204, 204],
  );
  assert.equal(handled, 1);
});

test('an error of a handler is thrown, and the event is handled when it is sent again', async () => {
  let calls = 0;
  const failOnce = () => {
    if (++calls === 1) throw new Error('database away');
  };
  const receiver = receiverOf({ 'transcription.completed': failOnce }, { memory: rememberEvents() });

  await assert.rejects(receiver.receive(signedDelivery()), /database away/);
  assert.equal((await receiver.receive(signedDelivery())).status, 204);
  assert.equal(calls, 2);
});

test('an event that is sent again while it is being handled is answered 503', async () => {
  const entered = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow = async () => {
    entered.resolve();
    await finish.promise;
  };
  const receiver = receiverOf({ 'transcription.completed': slow }, { memory: rememberEvents() });
  const first = receiver.receive(signedDelivery());
  await entered.promise;

  const second = await receiver.receive(signedDelivery());
  finish.resolve();

  assert.equal(second.status, 503);
  assert.equal((await first).status, 204);
});

test('a full memory deletes the oldest event first', () => {
  const memory = rememberEvents({ maxEvents: 2 });
  for (const id of ['a', 'b', 'c']) {
    memory.begin(id);
    memory.done(id);
  }

  assert.deepEqual(
    ['c', 'b', 'a'].map((id) => memory.begin(id)),
    ['done', 'done', 'new'],
  );
});
