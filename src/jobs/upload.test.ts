import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { callerOf } from '../../test/caller.ts';
import { openJobRoom } from '../../test/job-room.ts';
import { until } from '../../test/until.ts';
import { wavFile } from '../../test/wav.ts';
import type { Account } from '../http/route.ts';
import { buildServer, closeServer } from '../http/server.ts';
import { openLog } from '../log.ts';

const KEY = `vb_${'k'.repeat(43)}`;
const TYPE = 'multipart/form-data; boundary=xx';
const HEAD = '--xx\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';

/** The room of jobs behind the real server, on a socket. */
async function openRoom() {
  const room = await openJobRoom({ MAX_UPLOAD_BYTES: '100000' });
  const account = await room.account();
  const app = buildServer({
    routes: room.routes,
    auth: { adminToken: 'x'.repeat(16), findCaller: async () => callerOf(account as Account) },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    room,
    account,
    send(headers: Record<string, string> = {}) {
      const options = { host: '127.0.0.1', port, method: 'POST', path: '/v1/transcribe', agent: false };
      return http.request({ ...options, headers: { 'x-api-key': KEY, 'content-type': TYPE, ...headers } });
    },
    async [Symbol.asyncDispose]() {
      await closeServer(app, 0);
      await room[Symbol.asyncDispose]();
    },
  };
}

async function answerOf(request: http.ClientRequest) {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await Array.fromAsync(response)).toString();
  return { status: response.statusCode, json: JSON.parse(text) };
}

test('an upload over a socket becomes a job', async () => {
  await using server = await openRoom();
  const request = server.send();
  request.end(
    Buffer.concat([
      Buffer.from(HEAD),
      wavFile(1),
      Buffer.from('\r\n--xx\r\nContent-Disposition: form-data; name="async"\r\n\r\n1\r\n--xx--\r\n'),
    ]),
  );

  const answer = await answerOf(request);

  assert.equal(answer.status, 202);
  assert.equal((await server.room.job(server.account, answer.json.id)).status, 'queued');
});

test('a caller that goes away in the middle of an upload leaves nothing on disk', async () => {
  await using server = await openRoom();
  const request = server.send();
  request.on('error', () => undefined);
  request.write(HEAD + 'half of the sound');
  await until('the upload to begin', async () => (await server.room.files()).length === 1);

  request.destroy();

  await until('the file to be gone', async () => (await server.room.files()).length === 0);
  assert.deepEqual(await server.room.db.rows({ text: 'select id from jobs' }), []);
});

test('a body declared too large is refused before it is sent', async () => {
  await using server = await openRoom();
  const request = server.send({ 'content-length': '10000000', expect: '100-continue' });
  request.on('error', () => undefined);
  request.flushHeaders();

  const answer = await answerOf(request);

  assert.deepEqual([answer.status, answer.json.error.type], [413, 'too_large']);
  assert.deepEqual(await server.room.files(), []);
  request.destroy();
});

test('a caller who is still sending when its upload is refused comes to read why', async () => {
  await using server = await openRoom();
  const request = server.send();
  request.on('error', () => undefined);
  request.write('--xx\r\nContent-Disposition: form-data; name="speed"\r\n\r\n2\r\n' + HEAD);
  request.end(Buffer.alloc(90_000, 'x'));

  const answer = await answerOf(request);

  assert.deepEqual([answer.status, answer.json.error.param], [400, 'speed']);
  assert.deepEqual(await server.room.files(), []);
});
