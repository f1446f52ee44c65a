import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { signBody } from '#sdk/webhooks/index.ts';
import { runVerbatim } from '../../../test/fixtures/cli.ts';
import { temporaryFolder } from '../../../test/fixtures/service.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"id":"evt_1","type":"webhook.test","note":"é"}';
const TIMESTAMP = '2026-11-21T09:30:05.250Z';
const SIGNATURE = signBody({ secret: SECRET, timestamp: TIMESTAMP, body: BODY });
const env = { VERBATIM_WEBHOOK_SECRET: SECRET };
const request = (body = BODY, signature = SIGNATURE) =>
  `POST /hooks HTTP/1.1\r\nHost: a\r\nX-Service-Timestamp: ${TIMESTAMP}\r\nX-Service-Signature: ${signature}\r\n\r\n${body}`;
const AT = ['--at', '2026-11-21T09:30:07Z'];

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));

describe('verbatim signature', () => {
  test('signs a body, with the secret from the environment or a file', async () => {
    const file = path.join(folder, 'secrets');
    fs.writeFileSync(file, `${SECRET}\n`);
    const words = ['signature', 'sign', '--timestamp', TIMESTAMP];

    const signed = await runVerbatim(words, { env, stdin: BODY });
    const fromFile = await runVerbatim([...words, '--secret', file, '-q'], { stdin: BODY });
    const standard = await runVerbatim([...words, '--event-id', 'evt_1', '--json'], { env, stdin: BODY });

    assert.deepEqual(signed, {
      code: 0,
      stderr: '',
      stdout: `X-Service-Timestamp: ${TIMESTAMP}\nX-Service-Signature: ${SIGNATURE}\n`,
    });
    assert.equal(fromFile.stdout, `${SIGNATURE}\n`);
    assert.match(JSON.parse(standard.stdout)['webhook-signature'], /^v1,[\w+/]{43}=$/);
  });

  test('a genuine delivery verifies; a late one, a changed one and one without a secret do not', async () => {
    const good = await runVerbatim(['signature', 'verify', ...AT], { env, stdin: request() });
    const late = await runVerbatim(['signature', 'verify'], { env, stdin: request() });
    const changed = await runVerbatim(['signature', 'verify', ...AT], { env, stdin: request(`${BODY} `) });
    const without = await runVerbatim(['signature', 'verify', ...AT], { stdin: request() });
    const noRequest = await runVerbatim(['signature', 'verify', ...AT], { env, stdin: BODY });

    assert.deepEqual([good.code, good.stdout], [0, 'ok  evt_1  webhook.test\n']);
    assert.deepEqual([late.code, changed.code, without.code, noRequest.code], [1, 1, 2, 2]);
    assert.match(late.stderr, /^verbatim: stale_timestamp: /);
    assert.match(changed.stderr, /^verbatim: bad_signature: /);
    assert.match(without.stderr, /VERBATIM_WEBHOOK_SECRET/);
    assert.match(noRequest.stderr, /This is not a request/);
  });

  test('explain names the cause and what to do, and shows no secret', async () => {
    const words = ['signature', 'explain', ...AT];

    const good = await runVerbatim(words, { env, stdin: request() });
    const parsed = await runVerbatim(words, { env, stdin: request(JSON.stringify(JSON.parse(BODY), null, 2)) });
    const json = await runVerbatim([...words, '--json'], { env, stdin: request(BODY, SIGNATURE.toUpperCase()) });

    assert.deepEqual([good.code, good.stderr], [0, '']);
    assert.match(good.stdout, /^ok {2}genuine\n/);
    assert.equal(parsed.code, 1);
    assert.match(parsed.stdout, /^fail {2}body_parsed\n/);
    assert.equal(JSON.parse(json.stdout).verdict, 'signature_reformatted');
    assert.ok(![good, parsed, json].some(({ stdout }) => stdout.includes(SECRET) || stdout.includes(SIGNATURE)));
  });

  test('explain shows the lines that read the raw body in a framework, when the body is the cause', async () => {
    const words = ['signature', 'explain', ...AT, '--framework', 'flask'];

    const parsed = await runVerbatim(words, { env, stdin: request(JSON.stringify(JSON.parse(BODY), null, 2)) });
    const empty = await runVerbatim(words, { env, stdin: request('') });
    const reformatted = await runVerbatim(words, { env, stdin: request(BODY, SIGNATURE.toUpperCase()) });
    const unknown = await runVerbatim([...words, '--framework', 'cgi'], { env, stdin: request() });

    const lines = '\n\n@app.post("/hooks")\ndef hooks():\n';
    assert.ok(parsed.stdout.includes(lines), parsed.stdout);
    assert.match(empty.stdout, /^fail {2}body_empty\n/);
    assert.ok(empty.stdout.includes(lines), empty.stdout);
    assert.ok(!reformatted.stdout.includes('def hooks'), reformatted.stdout);
    assert.deepEqual([parsed.code, unknown.code], [1, 2]);
  });
});
