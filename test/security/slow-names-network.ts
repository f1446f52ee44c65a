import https from 'node:https';
import { openNameServer } from '../fixtures/servers/name-server.ts';
import { prepareOwnNetwork } from '../fixtures/servers/own-network.ts';
import { until } from '../fixtures/until.ts';
import { testAuthority } from '../fixtures/webhooks/receiver.ts';
import { type Caller, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

// Runs in a network of its own (own-network.ts): the whole service beside a name server that never answers for one
// zone. One account sends to fresh names of that zone, and asks for webhooks at them; others send to names that
// resolve. Prints what happened as JSON.

const PUBLIC = '93.184.216.34';
const HANGING_WEBHOOKS = 5;
// An attempt is under way for 5 s: 2 rounds of changes, each of which waits for 2 s, and their pings.
const ROUNDS = 3;
const PINGS_EACH = 4;
const CHANGES = 24;
const OTHER_ACCOUNTS = 8;

prepareOwnNetwork([PUBLIC], `${PUBLIC} listed.example.net\n`);
await using nameServer = await openNameServer((name) => (name.endsWith('.hang.example.org') ? 'silent' : [PUBLIC]));
const arrivals = new Map<string, number>();
const hosts = ['*.good.example.org', 'listed.example.net'];
const receiver = https
  .createServer(testAuthority.issue({ hosts }), (request, response) => {
    arrivals.set(String(request.headers['x-service-event-id']), performance.now());
    request.resume();
    response.writeHead(204).end();
  })
  .listen(443, PUBLIC);
await using service = await openWebhookService([], { WEBHOOK_ALLOWED_TARGETS: '' });
const node = await service.start('api,deliverer');

const hostile = await service.caller(node);
const others = await Promise.all(Array.from({ length: OTHER_ACCOUNTS }, () => service.caller(node)));
const hooks = await Promise.all(
  others.map((other, index) =>
    other.webhook(`https://${index === 0 ? 'listed.example.net' : `a${index}.good.example.org`}/`),
  ),
);
const { changes } = await hangNames(hostile);
const delays = await Promise.all(others.map((other, index) => delayOfPing(other, hooks[index]!.path)));
const checks = await Promise.all(others.map(timeToCreate));
const overLimit = await createOverLimit();
process.stdout.write(
  JSON.stringify({ delays, checks, overLimit, attempts: await attemptsOf(others, hooks), changes: await changes }),
);
receiver.closeAllConnections();
receiver.close();

/** Test pings to, and changes of url to, names that nobody answers for. The changes are still under way. */
async function hangNames({ call, webhook }: Caller): Promise<{ changes: Promise<number[]> }> {
  const paths: string[] = [];
  for (let index = 0; index < HANGING_WEBHOOKS; index++) {
    paths.push((await webhook(`https://first${index}.good.example.org/`)).path);
  }
  for (let round = 0; round < ROUNDS; round++) {
    const rename = (path: string, at: number) =>
      call('PATCH', path, { url: `https://w${round}-${at}.hang.example.org/` });
    await Promise.all(paths.map(rename));
    await Promise.all(paths.flatMap((path) => Array.from({ length: PINGS_EACH }, () => call('POST', `${path}/test`))));
  }
  const statuses = Array.from({ length: CHANGES }, async (_, index) => {
    const answer = await call('PATCH', paths[index % paths.length]!, { url: `https://p${index}.hang.example.org/` });
    return answer.status;
  });
  return { changes: Promise.all(statuses) };
}

/** From the answer to a test ping until the receiver has the event, in ms. */
async function delayOfPing({ call }: Caller, path: string): Promise<number> {
  const { event_id } = (await call('POST', `${path}/test`)).json;
  const answeredAt = performance.now();
  const arrivedAt = await until(`event ${event_id}`, () => arrivals.get(event_id));
  return arrivedAt - answeredAt;
}

async function timeToCreate({ call }: Caller, index: number): Promise<number> {
  const startedAt = performance.now();
  const url = `https://second${index}.good.example.org/`;
  const answer = await call('POST', '/v1/webhooks', { url, events: ['webhook.test'] });
  if (answer.status !== 201) throw new Error(answer.text);
  return performance.now() - startedAt;
}

/** A lite account asks for a second webhook, at a name that hangs: the answer, and the questions that it caused. */
async function createOverLimit() {
  const { call, webhook } = await service.caller(node, 'lite');
  await webhook('https://only.good.example.org/');
  const url = 'https://beyond.hang.example.org/';
  const answer = await call('POST', '/v1/webhooks', { url, events: ['webhook.test'] });
  const asked = nameServer.asked.filter((name) => name.startsWith('beyond'));
  return { status: answer.status, type: answer.json.error.type, asked };
}

/** Every entry in the logs of the accounts that are not to blame, as status and attempt. */
async function attemptsOf(callers: Caller[], webhooks: { path: string }[]): Promise<string[]> {
  return await until('an entry of each', async () => {
    const logs = await Promise.all(callers.map(({ call }, at) => call('GET', `${webhooks[at]!.path}/deliveries`)));
    const entries = logs.flatMap(({ json }) => json.data as { status: string; attempt: number }[]);
    const isDone = entries.length >= callers.length && entries.every(({ status }) => status !== 'pending');
    return isDone ? entries.map(({ status, attempt }) => `${status} ${attempt}`) : null;
  });
}
