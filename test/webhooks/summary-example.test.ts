import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import readline from 'node:readline';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { signBody } from '../../sdk/src/webhooks/signature.ts';

const SERVER = path.join(import.meta.dirname, '../..', 'examples', 'summary-ollama', 'server.js');
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

type Asked = { path: string; body: Record<string, unknown> };

/** A language model that is away for its first question, and a service with one job. */
async function openOthers() {
  const asked: Asked[] = [];
  const job: Record<string, unknown> = { id: 'job_1', text: 'We meet on Monday at nine.', metadata: { order: 7 } };
  let questions = 0;
  const server = http.createServer(async (request, response) => {
    const { method, url } = request;
    const body = method === 'GET' ? {} : ((await json(request)) as Record<string, unknown>);
    asked.push({ path: `${method} ${url}`, body });
    if (url === '/v1/chat/completions') response.statusCode = ++questions === 1 ? 503 : 200;
    if (method === 'PATCH') Object.assign(job, body);
    const answer = { choices: [{ message: { content: ' A meeting on Monday. ' } }] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url === '/v1/chat/completions' ? answer : job));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, job, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}

async function deliver(url: string): Promise<number> {
  const timestamp = new Date().toISOString();
  const event = { id: 'evt_1', type: 'transcription.completed', created_at: timestamp, data: { job: { id: 'job_1' } } };
  const body = JSON.stringify(event);
  const headers = {
    'x-service-timestamp': timestamp,
    'x-service-signature': signBody({ secret: SECRET, timestamp, body }),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

test('the example stores a summary once, and has a delivery sent again while the model is away', async () => {
  await using others = await openOthers();
  const { url } = others;
  const env = { ...process.env, PORT: '0', VERBATIM_URL: url, VERBATIM_API_KEY: 'vb_1', LLM_URL: `${url}/v1` };
  const child = spawn(process.execPath, [SERVER], {
    env: { ...env, VERBATIM_WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(readline.createInterface({ input: child.stdout }), 'line');
  const receiver = /http:\S+/.exec(line)![0];

  const statuses = [await deliver(receiver), await deliver(receiver), await deliver(receiver)];
  child.kill('SIGKILL');
  await once(child, 'exit');

  assert.deepEqual(statuses, [500, 204, 204]);
  assert.deepEqual(others.job['metadata'], { order: 7, summary: 'A meeting on Monday.' });
  const questions = others.asked.filter(({ path }) => path === 'POST /v1/chat/completions');
  assert.equal(questions.length, 2);
  assert.match(JSON.stringify(questions[0]!.body), /"model":"llama3.2".*We meet on Monday at nine\./);
});
