import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Compile } from 'typebox/schema';
import { openWebhookFixture } from '../../test/fixtures/webhooks/webhook.ts';
import { eventPayloads } from './event-payloads.ts';
import { EVENT_TYPES } from './events/event-types.ts';

const WEBHOOK = { url: 'https://hooks.example.com/verbatim', events: [...EVENT_TYPES] };

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture();
});
after(() => environment[Symbol.asyncDispose]());

/** A new account with two webhooks that subscribe to everything. */
async function openHook() {
  const { call } = await environment.caller();
  const { json: webhook } = await call('POST', '/v1/webhooks', WEBHOOK);
  const { json: other } = await call('POST', '/v1/webhooks', WEBHOOK);
  const receiversOf = (eventId: string) =>
    environment.fixture.db.rows<{ id: string }>({
      text: 'select webhook_id as id from deliveries where event_id = $1',
      values: [eventId],
    });
  return { call, webhook, other, receiversOf, path: `/v1/webhooks/${webhook.id}` };
}

for (const type of EVENT_TYPES) {
  test(`a test of ${type} sends the example of that type to this webhook alone, under an id of its own`, async () => {
    const { call, webhook, receiversOf, path } = await openHook();
    const { schema, example } = eventPayloads.find((payload) => payload.type === type)!;

    const answer = await call('POST', `${path}/test`, { type });

    const eventId = answer.json.event_id;
    assert.deepEqual([answer.status, answer.json], [202, { event_id: eventId, type }]);
    assert.deepEqual(await receiversOf(eventId), [{ id: webhook.id }]);
    const [event] = await environment.fixture.db.rows<{ body: string; type: string }>({
      text: `select convert_from(body, 'UTF8') as body, type from events where id = $1`,
      values: [eventId],
    });
    const payload = JSON.parse(event!.body);
    assert.deepEqual([event!.type, payload.id, payload.type], [type, eventId, type]);
    assert.equal(Compile(schema).Check(payload), true);
    if (type !== 'webhook.test')
      assert.deepEqual([payload.data, payload.metadata], [example['data'], example['metadata']]);
  });
}

test('without a body, or without a type in it, a webhook.test is sent', async () => {
  const { call, path } = await openHook();

  const answers = [await call('POST', `${path}/test`), await call('POST', `${path}/test`, {})];

  assert.deepEqual(
    answers.map(({ status, json }) => [status, json.type]),
    Array(2).fill([202, 'webhook.test']),
  );
});

test('a type that does not exist is refused, and sends nothing', async () => {
  const { call, path } = await openHook();

  for (const body of [{ type: 'job.done' }, { type: null }, { type: ['webhook.test'] }, { event: 'webhook.test' }]) {
    const answer = await call('POST', `${path}/test`, body);
    assert.deepEqual([answer.status, answer.json.error.param], [400, Object.keys(body)[0]]);
  }
  assert.deepEqual((await call('GET', `${path}/deliveries`)).json.data, []);
});

test('an example is no event of the account: no recovery sends it', async () => {
  const { call, other, path } = await openHook();
  await call('POST', `${path}/test`, { type: 'transcription.completed' });

  const recovered = await call('POST', `/v1/webhooks/${other.id}/recover`, { since: '2020-01-01T00:00:00Z' });

  assert.deepEqual([recovered.status, recovered.json], [202, { events: 0 }]);
});

test('a repeated request with the same Idempotency-Key sends one test, and with another type it is a 409', async () => {
  const { call, receiversOf, path } = await openHook();
  const send = (type: string) => call('POST', `${path}/test`, { type }, { 'idempotency-key': 'a' });

  const [first, again] = [await send('transcription.failed'), await send('transcription.failed')];
  const other = await send('webhook.test');

  assert.deepEqual(again.json, first.json);
  assert.equal((await receiversOf(first.json.event_id)).length, 1);
  assert.equal(other.status, 409);
});
