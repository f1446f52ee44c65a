import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { test } from 'node:test';
import { signBody } from '../../sdk/src/webhooks/signature.ts';
import { makeAuthority } from '../../src/demo/certificates.ts';

const SERVER = path.join(import.meta.dirname, '../..', 'examples', 'receiver-node', 'server.js');
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Starts the example as its README does, and collects the lines that it prints. */
async function startExample(env: Record<string, string>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'receiver-'));
  const authority = makeAuthority();
  const { cert, key } = authority.issue({ hosts: ['127.0.0.1'] });
  const [TLS_CERT, TLS_KEY] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  fs.writeFileSync(TLS_CERT, cert);
  fs.writeFileSync(TLS_KEY, key);
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, PORT: '0', TLS_CERT, TLS_KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    child,
    ca: authority.cert,
    lines: readline.createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function deliver(url: string, ca: string, secret = SECRET): Promise<number> {
  const timestamp = new Date().toISOString();
  const data = { job: { id: 'job_1', text: 'The sun came up.' } };
  const body = JSON.stringify({ id: 'evt_1', type: 'transcription.completed', created_at: timestamp, data });
  const headers = {
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': signBody({ secret, timestamp, body }),
  };
  const request = https.request(url, { method: 'POST', headers, ca, agent: false }).end(body);
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}

test('the example receiver prints each transcript once, and says in development why it refuses a request', async () => {
  await using example = await startExample({ VERBATIM_WEBHOOK_SECRET: SECRET, NODE_ENV: 'development' });
  const listening = (await example.lines.next()).value as string;
  const url = /https:\S+/.exec(listening)![0];

  const statuses = [
    await deliver(url, example.ca),
    await deliver(url, example.ca),
    await deliver(url, example.ca, SECRET.replace('CQ', 'CA')),
  ];
  const printed = (await example.lines.next()).value;
  const [refusal] = await once(example.child.stderr, 'data');

  assert.deepEqual(statuses, [204, 204, 401]);
  assert.equal(printed, 'evt_1: job_1 says: The sun came up.');
  assert.match(String(refusal), /^A delivery was refused \(unexplained\)/);
});

test('without a secret the example receiver names the missing setting', async () => {
  await using example = await startExample({ VERBATIM_WEBHOOK_SECRET: '' });

  const [chunk] = await once(example.child.stderr, 'data');

  assert.match(String(chunk), /Set VERBATIM_WEBHOOK_SECRET/);
});
