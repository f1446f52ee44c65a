import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { type DemoService, freePort, startService } from '../../src/demo/service.ts';
import { makeId } from '../../src/platform/clock.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { openTestDatabase, type TestDatabase } from '../fixtures/database/test-database.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import { makeStreamAccount } from '../fixtures/stream.ts';
import { until } from '../fixtures/until.ts';
import { emitEvent } from '../fixtures/webhooks/emit-event.ts';

// `verbatim listen` against a running service. Events are emitted into its database.

const CLI = path.join(import.meta.dirname, '../../cli/main.ts');
const METADATA = '{ "order": 12345678901234567890,\n"b":1 }';

const folder = temporaryFolder();
const port = await freePort();
let db: TestDatabase;
let service: DemoService;
let account: Awaited<ReturnType<typeof makeStreamAccount>>;
const emitted = new Map<string, string>();

const start = async () => {
  const env = { DATABASE_URL: db.url, ROLES: 'api,deliverer', WEBHOOK_ALLOWED_TARGETS: '127.0.0.1/32:9' };
  service = await startService({ dataDir: folder, port, env, stopwatch: machineTime });
};

before(async () => {
  db = await openTestDatabase();
  await start();
  account = await makeStreamAccount(db);
});

after(async () => {
  await service.stop();
  await db[Symbol.asyncDispose]();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function emit(
  count: number,
  type: 'transcription.completed' | 'transcription.failed' = 'transcription.completed',
) {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const data = { job: { id: makeId('job'), text: 'Grüße\u2028' } };
    ids.push(await emitEvent(db, { account, type, jobId: null, data, metadata: METADATA }));
  }
  const rows = await db.rows<{ id: string; body: Buffer }>({
    text: 'select id, body from events where shard = $1 and id = any ($2)',
    values: [account.shard, ids],
  });
  for (const { id, body } of rows) emitted.set(id, body.toString());
  return ids;
}

type Received = { id: string; type: string; url: string; headers: http.IncomingHttpHeaders; body: string };

/** The user's server. */
async function openTarget(status: () => number = () => 204) {
  const received: Received[] = [];
  const server = http.createServer(async (incoming, answer) => {
    const body = Buffer.concat(await Array.fromAsync(incoming)).toString();
    const { id, type } = JSON.parse(body);
    received.push({ id, type, url: incoming.url!, headers: incoming.headers, body });
    answer.writeHead(status()).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: opened } = server.address() as AddressInfo;
  return {
    received,
    host: `127.0.0.1:${opened}`,
    ids: () => new Set(received.map(({ id }) => id)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const environment = (profile: string) => ({
  XDG_CONFIG_HOME: path.join(folder, profile),
  VERBATIM_URL: `http://127.0.0.1:${port}`,
  VERBATIM_API_KEY: account.key,
});

/** Runs `verbatim listen` in this process until `isDone`, and returns its output. */
async function listenUntil(args: string[], isDone: (output: string) => boolean, onListening: () => Promise<unknown>) {
  const stop = new AbortController();
  let output = '';
  const onText = (text: string) => {
    output += text;
  };
  const run = runVerbatim(['listen', ...args], {
    env: environment('items'),
    signal: stop.signal,
    onStdout: onText,
    onStderr: onText,
  });
  await Promise.race([until('the start', () => output.includes('listening as')), run]);
  await onListening();
  await Promise.race([until('the end', () => isDone(output)), run]);
  stop.abort();
  return await run;
}

test('events are forwarded with the signature of the profile, each type to its route, with the bytes of webhooks', async () => {
  await using target = await openTarget();
  let ids: string[] = [];
  const args = ['--forward-to', `${target.host}/hooks`, '--route', `transcription.failed=${target.host}/alerts`];

  const { code, stdout, stderr } = await listenUntil(
    [...args, '--since', '1h'],
    (output) => ids.length === 2 && ids.every((id) => output.includes(id)),
    async () => {
      ids = [...(await emit(1)), ...(await emit(1, 'transcription.failed'))];
    },
  );
  const { stdout: printed } = await runVerbatim('listen --print-secret', { env: environment('items') });

  const secret = printed.trim();
  assert.equal(code, 130);
  assert.match(
    stderr,
    /listening as test \(pro\) · to http:\/\/127\.0\.0\.1:\d+\/hooks, http:\S+\/alerts \(transcription\.failed\) · secret whsec_.{4}… {2}\(kept for this profile/,
  );
  assert.equal((stdout + stderr).includes(secret.slice(10)), false);
  assert.deepEqual(
    target.received.map(({ id, url }) => [id, url]).toSorted(),
    [
      [ids[0], '/hooks'],
      [ids[1], '/alerts'],
    ].toSorted(),
  );
  for (const { id, headers, body } of target.received) {
    assert.equal(body, emitted.get(id));
    assert.equal(verifyDelivery({ secret, headers, body }).id, id);
  }
  assert.match(
    stdout,
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}→ {2}transcription\\.failed +${ids[1]} +\\d+ ms {2}204 {2}/alerts$`, 'm'),
  );
});

test('listening opens no port: nothing else on the machine, and no web page, can send to it', async () => {
  await using target = await openTarget();
  const servers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;
  await until('the target to be the only server of this process', () => servers() === 1);
  let during = -1;

  await listenUntil(
    ['--forward-to', target.host, '--since', '1h'],
    () => target.received.length >= 1,
    async () => {
      await emit(1);
      await until('the event', () => target.received.length >= 1);
      during = servers();
    },
  );

  assert.equal(during, 1);
});

test('--json prints each frame and each attempt as an object in a line', async () => {
  await using target = await openTarget(() => 500);
  let ids: string[] = [];

  const { stdout } = await listenUntil(
    ['--json', '--forward-to', target.host, '--types', 'transcription.failed', '--retry', 'fast', '--since', '1s'],
    (output) => ids.length === 1 && output.includes(`"frame":"attempt","event_id":"${ids[0]}"`),
    async () => {
      await emit(1);
      ids = await emit(1, 'transcription.failed');
    },
  );

  const frames = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([frames[0].frame, frames[0].account], ['hello', account.id]);
  const event = frames.find(({ frame, id }) => frame === 'event' && id === ids[0]);
  assert.equal(event.body, emitted.get(ids[0]!));
  const attempts = frames.filter(({ frame, event_id }) => frame === 'attempt' && event_id === ids[0]);
  assert.deepEqual([attempts[0].status, attempts[0].attempt, attempts[0].error], [500, 1, null]);
  assert.ok(attempts[0].retry_in_ms >= 900 && attempts[0].retry_in_ms <= 1_100);
  assert.ok(frames.every(({ type }) => type !== 'transcription.completed'));
});

test('when nothing listens on the target, that is said in words', async () => {
  const closed = `127.0.0.1:${await freePort()}`;

  const { stderr } = await listenUntil(
    ['--forward-to', closed],
    (output) => output.includes('nothing'),
    async () => null,
  );

  assert.match(stderr, new RegExp(`^nothing listens on ${closed}: start your server$`, 'm'));
});

test('events that are sent again come again, those of another webhook only without --webhook', async () => {
  await using target = await openTarget();
  const api = async (method: string, route: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${route}`, {
      method,
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : '{}',
    });
    assert.ok(answer.ok, `${route}: ${answer.status}`);
    return (await answer.json()) as { id: string };
  };
  const hook = { url: 'https://127.0.0.1:9/', events: ['transcription.failed'] };
  const [own, other] = [await api('POST', '/v1/webhooks', hook), await api('POST', '/v1/webhooks', hook)];
  const [id] = (await emit(1, 'transcription.failed')) as [string];
  const resend = (webhook: { id: string }) => api('POST', `/v1/events/${id}/resend`, { webhook_id: webhook.id });
  const count = () => target.received.filter((each) => each.id === id).length;

  await listenUntil(
    ['--forward-to', target.host, '--webhook', own.id, '--since', '1m'],
    () => count() >= 2,
    async () => {
      await until('the event', () => count() === 1);
      await resend(other);
      await resend(own);
    },
  );

  assert.equal(count(), 2);
});

test('what cannot be done ends with its exit code', async () => {
  const codeOf = async (args: string, env = {}) =>
    (await runVerbatim(args, { env: { ...environment('codes'), ...env } })).code;

  assert.equal(await codeOf('listen', { VERBATIM_API_KEY: `vb_${'0'.repeat(40)}` }), 4);
  assert.equal(await codeOf('listen --webhook wh_01kamz2f3q8r5t7v9wxyzabcde'), 5);
  assert.equal(await codeOf('listen --types nonsense'), 2);
  assert.equal(await codeOf('listen --since 1h --resume'), 2);
  assert.equal(await codeOf('listen --fail 2'), 2);
  assert.equal(await codeOf('listen --tui'), 2);
});

test('nothing is lost when the service and the program are killed and started again', async (t) => {
  await using target = await openTarget();
  account = await makeStreamAccount(db);
  emitted.clear();
  const env = { ...process.env, ...environment('crash') };
  const listen = (from: string[]): ChildProcess => {
    const args = [CLI, 'listen', '--forward-to', target.host, '--retry', 'fast', ...from];
    const run = spawn(process.execPath, args, { env, stdio: 'ignore' });
    t.after(() => run.kill('SIGKILL'));
    return run;
  };
  const count = () => target.ids().size;
  const allArrive = () => until('all events', () => count() === emitted.size, 60_000);

  const first = listen(['--since', '1h']);
  await emit(100);
  await until('some of the events', () => count() >= 10, 60_000);
  process.kill(service.pid, 'SIGKILL');
  await service.ended;
  await emit(100);
  await start();
  await emit(50);
  await allArrive();
  await emit(100);
  first.kill('SIGKILL');
  await once(first, 'exit');
  await emit(50);
  const second = listen(['--resume']);
  await until('some of the events', () => count() > 250, 60_000);
  await service.stop();
  await start();
  await emit(50);
  await allArrive();
  second.kill('SIGINT');
  const [code] = await once(second, 'exit');

  assert.deepEqual([code, target.ids()], [130, new Set(emitted.keys())]);
  const file = path.join(folder, 'crash/verbatim/listen/default.json');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const { secret } = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const { id, headers, body } of target.received) {
    assert.equal(body, emitted.get(id));
    assert.equal(verifyDelivery({ secret, headers, body, toleranceSeconds: 600 }).id, id);
  }
});
