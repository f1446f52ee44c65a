import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after } from 'node:test';
import { wavFile } from '../fixtures/audio/wav.ts';
import { readEvents } from '../fixtures/event-stream.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { openService, type ServiceAccount } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

// Jobs stay queued, for no transcriber runs; nobody is kept from asking often.
const service = await openService({ ROLES: 'api', RATE_LIMIT_DEFAULT: 'off' });
after(() => service[Symbol.asyncDispose]());
// More than one account may follow at once.
const MANY = 110;

async function submit({ key }: ServiceAccount): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'a.wav');
  form.append('async', 'true');
  const headers = { 'x-api-key': key };
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form });
  return ((await answer.json()) as { id: string }).id;
}

/** Asks for the stream of a job's events, over a connection of its own, and resets that as soon as it is sent. */
function askAndReset({ key }: ServiceAccount, id: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = net.connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  socket.on('error', () => undefined).once('close', () => resolve());
  const request = `GET /v1/jobs/${id}/events HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  socket.once('connect', () => socket.write(request.repeat(2), () => socket.resetAndDestroy()));
  return promise;
}

test('HEAD of a stream and requests that are reset at once follow no job', async () => {
  const account = await service.account();
  const id = await submit(account);
  const url = `${service.baseUrl}/v1/jobs/${id}/events`;
  const headers = { 'x-api-key': account.key };

  const heads = await Promise.all(Array.from({ length: MANY }, () => fetch(url, { method: 'HEAD', headers })));
  const afterHeads = await fetch(url, { headers });
  await Promise.all(Array.from({ length: MANY }, () => askAndReset(account, id)));
  const afterResets = await until(
    'a stream',
    async () => {
      const answer = await fetch(url, { headers });
      return answer.status === 200 ? answer : null;
    },
    10_000,
  );

  assert.ok(heads.every(({ status }) => status === 200));
  assert.match(heads[0]!.headers.get('content-type')!, /^text\/event-stream/);
  assert.deepEqual([afterHeads.status, afterResets.status], [200, 200]);
  await Promise.all([afterHeads.body!.cancel(), afterResets.body!.cancel()]);
});

test('streams of a key that is revoked, or expires, end within two seconds; those of other keys go on', async () => {
  const account = await service.account();
  const id = await submit(account);
  const ask = (route: string, method: string, key: string, body?: object) =>
    fetch(service.baseUrl + route, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const makeKey = async (body: object) =>
    (await (await ask('/v1/keys', 'POST', account.key, body)).json()) as { id: string; key: string };
  const follow = (key: string) => ask(`/v1/jobs/${id}/events`, 'GET', key);
  const elapsedMs = machineTime();
  const endOf = (answer: Response) => Array.fromAsync(answer.body!).then(() => ({ at: Date.now(), ms: elapsedMs() }));
  const revoked = await makeKey({});
  const expiresAt = Date.now() + 3_000;
  const expiring = await makeKey({ expires_at: new Date(expiresAt).toISOString() });
  const [ofRevoked, ofExpiring, other] = await Promise.all([revoked, expiring, account].map(({ key }) => follow(key)));
  const otherEvents = Array.fromAsync(readEvents(other!.body!));
  const expiredEnd = endOf(ofExpiring!);

  const revokedMs = elapsedMs();
  const gone = await ask(`/v1/keys/${revoked.id}`, 'DELETE', account.key);
  const revokedEnd = await endOf(ofRevoked!);
  const { at: expiredEndAt } = await expiredEnd;
  await ask(`/v1/jobs/${id}/cancel`, 'POST', account.key);

  assert.equal(gone.status, 204);
  const wentOnForMs = revokedEnd.ms - revokedMs;
  assert.ok(wentOnForMs < 2_000, `the stream of a revoked key went on for ${wentOnForMs} ms`);
  assert.ok(expiredEndAt >= expiresAt - 100, 'the stream ended before its key');
  assert.equal((await otherEvents).at(-1)?.data.status, 'canceled');
});

test('signing out ends the streams of the session within two seconds; those of its key go on', async () => {
  const account = await service.account();
  const id = await submit(account);
  const call = (route: string, method: string, headers: Record<string, string>) =>
    fetch(service.baseUrl + route, { method, headers });
  const byKey = { 'x-api-key': account.key };
  const begun = await call('/v1/session', 'POST', byKey);
  const session = (await begun.json()) as { id: string };
  const bySession = {
    cookie: begun.headers.getSetCookie()[0]!.split(';')[0]!,
    'x-session-id': session.id,
    origin: service.baseUrl,
  };
  const [ofSession, ofAccount, ofKey] = await Promise.all([
    call(`/v1/jobs/${id}/events`, 'GET', bySession),
    call('/v1/stream', 'GET', bySession),
    call(`/v1/jobs/${id}/events`, 'GET', byKey),
  ]);
  const endsOfSession = Promise.all([ofSession, ofAccount].map((answer) => Array.fromAsync(answer!.body!)));
  const eventsOfKey = Array.fromAsync(readEvents(ofKey!.body!));

  const elapsedMs = machineTime();
  const signedOut = await call('/v1/session', 'DELETE', bySession);
  await endsOfSession;
  const wentOnForMs = elapsedMs();
  await call(`/v1/jobs/${id}/cancel`, 'POST', byKey);

  assert.deepEqual([ofSession!.status, ofAccount!.status, signedOut.status], [200, 200, 204]);
  assert.ok(wentOnForMs < 2_000, `the streams went on for ${wentOnForMs} ms`);
  assert.equal((await eventsOfKey).at(-1)?.data.status, 'canceled');
});
