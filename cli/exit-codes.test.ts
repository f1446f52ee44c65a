import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../src/demo/service.ts';
import { runVerbatim } from '../test/fixtures/cli.ts';
import { temporaryFolder } from '../test/fixtures/service.ts';

// A server that answers as it is told, for answers that a service gives rarely.

type Answer = {
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: object;
  stream?: string;
  page?: string;
};
const answers: Answer[] = [];
const requests: { path: string; key: string | undefined }[] = [];
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    requests.push({ path: request.url!, key: request.headers['idempotency-key'] as string | undefined });
    const { status, type, headers, body, stream, page } = answers.shift()!;
    const error = { error: { message: 'Some\u001b[2Jthing.', code: status, type }, request_id: 'req_1' };
    if (stream !== undefined) return response.writeHead(status, { 'content-type': 'text/event-stream' }).end(stream);
    if (page !== undefined) return response.writeHead(status, { 'content-type': 'text/html' }).end(page);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? error));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const folder = temporaryFolder();
after(() => {
  server.close();
  server.closeAllConnections();
  fs.rmSync(folder, { recursive: true });
});
const env = {
  VERBATIM_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  VERBATIM_API_KEY: 'vb_x',
};

for (const [status, type, code] of [
  [400, 'invalid_request', 2],
  [401, 'unauthenticated', 4],
  [402, 'insufficient_balance', 6],
  [403, 'missing_scope', 1],
  [404, 'not_found', 5],
  [409, 'conflict', 1],
  [422, 'unprocessable_audio', 1],
  [429, 'rate_limited', 7],
] as const) {
  test(`an answer of ${status} ${type} ends with ${code}`, async () => {
    // Longer than the client waits by itself.
    answers.push({ status, type, headers: { 'retry-after': '3600' } });

    const { code: found, stdout, stderr } = await runVerbatim('balance', { env });

    assert.deepEqual([found, stdout], [code, '']);
    assert.match(stderr, /^verbatim: Some\\x1b\[2Jthing\. \(req_1\)/);
  });
}

test('where nothing listens, that is said once, with a question', async () => {
  const port = await freePort();

  for (const host of ['127.0.0.1', 'localhost']) {
    const url = `http://${host}:${port}`;
    const { code, stderr } = await runVerbatim('balance', { env: { ...env, VERBATIM_URL: url } });

    assert.deepEqual(
      [code, stderr],
      [1, `verbatim: No complete answer came from ${url} (ECONNREFUSED). Check that the service is running.\n`],
    );
  }
});

test('the page of a proxy in place of an answer is told in one line, without a stack', async () => {
  const file = path.join(folder, 'page.wav');
  fs.writeFileSync(file, 'x');
  const page = { status: 200, page: '<html>Please sign in</html>' };

  for (const args of [['whoami'], ['jobs', 'list'], ['transcribe', file]]) {
    answers.push(page, page, page);
    const { code, stderr } = await runVerbatim(args, { env });

    assert.equal(code, 1);
    assert.match(stderr, /The answer \(200, text\/html\) is not JSON: a proxy may have changed it/);
    assert.doesNotMatch(stderr, /\bat |\\x0a/);
    answers.length = 0;
  }
});

test('doctor knows a page that is not the service', async () => {
  answers.push({ status: 200, page: '<html>Please sign in</html>' });

  const { code, stdout } = await runVerbatim('doctor', { env });

  assert.equal(code, 1);
  assert.match(stdout, /fail +what answers at http:\S+\/readyz is not the service \(200, text\/html\)/);
  assert.match(stdout, /fix: look at the proxy there, or give the address of the service/);
  assert.equal(answers.length, 0);
});

test('an upload beyond the rate limit waits as long as the service asks, and stays the same request', async () => {
  const file = path.join(folder, 'a.wav');
  fs.writeFileSync(file, 'x');
  const refused = { status: 429, type: 'rate_limited', headers: { 'retry-after': '0' } };
  // More often than the client tries by itself.
  answers.push(refused, refused, refused, refused, {
    status: 202,
    body: { id: 'job_1', status: 'queued', warnings: [] },
  });
  requests.length = 0;

  const { code, stdout } = await runVerbatim(['transcribe', file, '--async', '-q'], { env });

  assert.deepEqual([code, stdout], [0, 'job_1\n']);
  assert.equal(requests.length, 5);
  assert.equal(new Set(requests.map(({ key }) => key)).size, 1);
});

test('at a terminal, an upload beyond the rate limit shows what it waits for', async () => {
  const file = path.join(folder, 'limited.wav');
  fs.writeFileSync(file, 'x');
  const refused = { status: 429, type: 'rate_limited', headers: { 'retry-after': '1' } };
  answers.push(refused, { status: 202, body: { id: 'job_1', status: 'queued', warnings: [] } });

  const { code, stderr } = await runVerbatim(['transcribe', file, '--async'], { env, isTerminal: true });

  assert.equal(code, 0);
  assert.match(stderr, /limited\.wav {2}waits 1 s for the rate limit/);
});

for (const flags of [[], ['-q']]) {
  test(`the error of each of several files is printed once ${flags.join()}`, async () => {
    const files = ['first.wav', 'second.wav'].map((name) => path.join(folder, name));
    for (const file of files) fs.writeFileSync(file, 'x');
    const refused = { status: 422, type: 'unprocessable_audio' };
    answers.push(refused, refused);

    const { code, stderr } = await runVerbatim(['transcribe', ...files, ...flags], { env });

    assert.equal(code, 1);
    assert.equal(stderr.split('thing.').length - 1, 2, stderr);
  });
}

for (const [type, code] of [
  ['insufficient_balance', 6],
  ['engine_error', 1],
] as const) {
  test(`a job that fails by ${type} ends with ${code}, transcribed or followed`, async () => {
    const file = path.join(folder, `${type}.wav`);
    fs.writeFileSync(file, 'x');
    const failed = { id: 'job_1', status: 'failed', error: { type, message: 'It failed.' } };
    const end = { status: 200, stream: `event: status\ndata: ${JSON.stringify(failed)}\n\n` };

    answers.push({ status: 202, body: { id: 'job_1', status: 'queued' } }, end, { status: 200, body: failed });
    const transcribed = await runVerbatim(['transcribe', file], { env });
    answers.push(end);
    const followed = await runVerbatim('jobs follow job_1', { env });

    for (const { code: found, stderr } of [transcribed, followed]) {
      assert.equal(found, code);
      assert.match(stderr, /It failed\.\n$/);
    }
  });
}
