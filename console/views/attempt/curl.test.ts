import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { curlOf } from './curl.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const REQUEST = {
  url: "https://hooks.example.com/it's?a=$(id)&b=`id`",
  headers: {
    'Content-Type': 'application/json',
    'Content-Length': '3',
    'X-Service-Event-Id': 'evt_1',
    'X-Service-Signature': 'old-signature',
    'X-Service-Signature-Previous': 'older-signature',
    'X-Service-Timestamp': '2020-01-01T00:00:00.000Z',
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1577836800',
    'webhook-signature': 'v1,old',
    'X-Own': ["it's", '"two"'],
  },
  body: '{"text":"it\'s $HOME `id` \\u0000 é\\n%s"}',
  headerPrefix: 'X-Service-',
};

test('the commands carry neither the old signature nor a secret', () => {
  const text = curlOf(REQUEST);

  assert.doesNotMatch(text, /old|2020|1577836800|whsec_[A-Za-z0-9]/);
  assert.match(text, /--header 'X-Service-Event-Id: evt_1'/);
});

const hasTools = ['sh', 'python3'].every((tool) => spawnSync(tool, ['-c', '']).status === 0);

test('a shell sends the same bytes with a signature that verifies', { skip: !hasTools && 'sh or python3' }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'curl-'));
  try {
    // In place of curl: stores what it is given.
    writeFileSync(path.join(folder, 'curl'), '#!/bin/sh\ncat > config\nprintf \'%s\\n\' "$@" > arguments\n');
    chmodSync(path.join(folder, 'curl'), 0o755);
    const commands = curlOf(REQUEST).replace(/^.*read -rs.*$/m, '');
    const env = { PATH: `${folder}:${process.env['PATH']}`, WEBHOOK_SECRET: SECRET, HOME: '/nowhere' };

    const { status, stderr } = spawnSync('sh', ['-c', commands], { cwd: folder, env, encoding: 'utf8' });

    assert.deepEqual([status, stderr], [0, '']);
    const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
    assert.equal(read('event.json'), REQUEST.body);
    const lines = read('arguments').split('\n');
    assert.ok(lines.includes(REQUEST.url));
    assert.ok(lines.includes('X-Own: it\'s, "two"'));
    const headers = Object.fromEntries(
      [...read('config').matchAll(/^header = "([^:]+): (.*)"$/gm)].map(([, name, value]) => [name!, value!]),
    );
    const { 'X-Service-Timestamp': time, 'webhook-timestamp': seconds } = headers;
    const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text + REQUEST.body);
    assert.ok(Math.abs(Date.parse(time!) - Date.now()) < 60_000);
    assert.deepEqual(headers, {
      'X-Service-Timestamp': time,
      'X-Service-Signature': hmac(SECRET, `${time}.`).digest('hex'),
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${hmac(Buffer.alloc(32, 7), `evt_1.${seconds}.`).digest('base64')}`,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
