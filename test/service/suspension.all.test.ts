import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

const receiver = await openReceiver({
  reply: ({ headers }) => ({ status: headers['x-service-attempt'] === '1' ? 500 : 204 }),
});
const environment = await openWebhookService([receiver.port], { WEBHOOK_RETRY_DELAYS: '0,1.5,1,1' });
const service = await environment.start('api,deliverer,janitor');
after(async () => {
  await environment[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function asAdmin(method: string, route: string) {
  const headers = { authorization: `Bearer ${service.adminToken}` };
  const answer = await fetch(service.baseUrl + route, { method, headers });
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, json: (await answer.json()) as any };
}
const change = (id: string, action: 'suspend' | 'resume') => asAdmin('POST', `/admin/v1/accounts/${id}/${action}`);

async function waitingOf(id: string): Promise<{ attempt: number; isDue: boolean }[]> {
  return await environment.db.rows({
    text: `select attempt, next_at <= clock_timestamp() as "isDue" from deliveries where account_id = $1 order by attempt`,
    values: [id],
  });
}

test("a suspended account's keys are refused, on every node and in open streams, until it is resumed", async () => {
  const account = await environment.caller(service);
  const other = await environment.caller(service);
  const second: TestService = await environment.start('api');
  const { key } = await service.account();
  const { json: of } = { json: await ownAccount(second, key) };
  const stream = await fetch(`${second.baseUrl}/v1/stream`, { headers: { 'x-api-key': key } });
  const reader = stream.body!.getReader();
  await reader.read();

  const suspended = await change(of.id, 'suspend');
  const again = await change(of.id, 'suspend');

  assert.equal(suspended.status, 200);
  assert.match(suspended.json.suspended_at, /Z$/);
  assert.equal(again.json.suspended_at, suspended.json.suspended_at);
  for (const node of [service, second]) {
    const refused = await until('the refusal', async () => {
      const answer = await fetch(`${node.baseUrl}/v1/jobs`, { headers: { 'x-api-key': key } });
      const body = (await answer.json()) as { error: { type: string; code: number } };
      return answer.status === 403 ? body : null;
    });
    assert.deepEqual([refused.error.type, refused.error.code], ['suspended', 403]);
  }
  await until('the end of the stream', async () => (await reader.read()).done);
  for (const { call } of [account, other]) assert.equal((await call('GET', '/v1/webhooks')).status, 200);

  const resumed = await change(of.id, 'resume');
  assert.deepEqual([resumed.status, resumed.json.suspended_at], [200, null]);
  assert.equal((await ownAccount(service, key)).id, of.id);
  const actions = (await asAdmin('GET', `/admin/v1/audit?account_id=${of.id}`)).json.data;
  assert.deepEqual(
    actions.slice(0, 3).map(({ action }: { action: string }) => action),
    ['account.resumed', 'account.suspended', 'account.suspended'],
  );
  for (const id of ['acct_01kamz2f3q8r5t7v9wxyzabcde', 'x']) assert.equal((await change(id, 'suspend')).status, 404);
});

async function ownAccount(node: TestService, key: string) {
  const answer = await fetch(`${node.baseUrl}/v1/account`, { headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200);
  return (await answer.json()) as { id: string };
}

test("a suspended account's deliveries and retries wait, and are sent when it is resumed", async () => {
  const account = await environment.caller(service);
  const other = await environment.caller(service);
  await account.webhook(new URL('/suspended', receiver.url).href);
  await other.webhook(new URL('/other', receiver.url).href);
  const at = (place: string) => receiver.requests.filter((request) => request.path === place);
  const eventsAt = (place: string) =>
    at(place).map(({ headers }) => [headers['x-service-event-id'], headers['x-service-attempt']]);

  const first = await account.emit();
  await until('the first attempt', () => at('/suspended').length === 1);
  await change(account.id, 'suspend');
  const meanwhile = [await account.emit(), await account.emit()];
  await other.emit();
  // The other account's retry is due later than all of these.
  await until("the other account's retry", () => at('/other').length === 2);
  const waiting = await until('the retry to be due', async () => {
    const rows = await waitingOf(account.id);
    return rows.every(({ isDue }) => isDue) ? rows : null;
  });

  assert.deepEqual(
    waiting.map(({ attempt }) => attempt),
    [1, 1, 2],
  );
  assert.deepEqual(eventsAt('/suspended'), [[first, '1']]);

  await change(account.id, 'resume');
  await until('all deliveries', async () => (await waitingOf(account.id)).length === 0, 20_000);
  const expected = [
    [first, '1'],
    [first, '2'],
    ...meanwhile.flatMap((id) => [
      [id, '1'],
      [id, '2'],
    ]),
  ];
  assert.deepEqual(eventsAt('/suspended').sort(), expected.sort());
});
