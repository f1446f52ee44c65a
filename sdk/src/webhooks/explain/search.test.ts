import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { build } from 'esbuild';
import { eventPayloads } from '../../../../src/webhooks/event-payloads.ts';
import file from '../../../vectors.json' with { type: 'json' };
import { signBody } from '../signature.ts';
import { explainSignature } from './explain-signature.ts';
import { readSignatureHeaders } from './read-headers.ts';
import { findMistakes, type KnownSecret } from './search.ts';

const TIMESTAMP = '2026-11-21T09:30:00.250Z';
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const SECRET = secretOf(9);

const headersFor = (body: string, secret = SECRET) => ({
  'X-Service-Signature': signBody({ secret, timestamp: TIMESTAMP, body }),
  'X-Service-Timestamp': TIMESTAMP,
  'X-Service-Event-Id': 'evt_01k9zzzzzz0123456789abcdef',
});

test('a search takes at most 400 HMACs, however many secrets and bodies are possible', () => {
  const others = Array.from(
    { length: 20 },
    (_, i): KnownSecret => ({ secret: secretOf(20 + i), of: 'another_webhook' }),
  );
  const secrets: KnownSecret[] = [...others, { secret: `"${SECRET}"`, of: 'this_webhook' }];
  const body = '\ufeff "{\\"metadata\\": {\\"é\\": \\"a b%20\\"}, \\"id\\": 1.0}"\r\n';
  const headers = readSignatureHeaders(headersFor(body, secretOf(1)), 'X-Service-');

  const one = findMistakes(headers, body, [{ secret: SECRET, of: 'this_webhook' }]);
  const many = findMistakes(headers, body, secrets);

  assert.deepEqual([one.mistakes, many.mistakes, many.hmacs], [null, null, 400]);
  assert.ok(one.hmacs > 100 && one.hmacs < 400);
});

test('a search that finds the cause ends there', () => {
  const body = '{"id":"evt_1"}';
  const headers = readSignatureHeaders(headersFor(body), 'X-Service-');
  const find = (given: string, secret = SECRET) => findMistakes(headers, given, [{ secret, of: 'this_webhook' }]);

  assert.deepEqual(find(body), { mistakes: [], hmacs: 1 });
  assert.deepEqual(find(body, `${SECRET} `).mistakes, ['secret_whitespace']);
  assert.ok(find(`${body}\n`, `${SECRET} `).hmacs <= 60);
});

// As they were found: the first took 3.7 s, and the second one HMAC of 1 MiB for each of 400 guesses.
for (const [what, body] of [
  ['of 60,000 blanks', `${' '.repeat(60_000)}!`],
  ['of 1 MiB', `{"text":"${'a '.repeat(2 ** 19)}"}`],
  ['of quotes that are not closed', `"${'\\"'.repeat(30_000)}`],
  ['of brackets', '['.repeat(60_000)],
] as const) {
  test(`a body ${what} is explained in less than 400 ms of CPU time`, () => {
    const secrets = Array.from({ length: 20 }, (_, i): KnownSecret => ({ secret: secretOf(i), of: 'another_webhook' }));
    const sent = { headers: null, body: '{"id":"evt_1"}' };
    const before = process.cpuUsage();

    const { verdict } = explainSignature({ secret: secrets, headers: headersFor(body, secretOf(99)), body, sent });

    const { user } = process.cpuUsage(before);
    assert.notEqual(verdict, 'genuine');
    assert.ok(user < 400_000, `${user / 1000} ms`);
  });
}

test('the test vectors are genuine', () => {
  for (const { name, secret, id, timestamp, body, signature } of file.vectors) {
    const headers = { 'X-Service-Signature': signature, 'X-Service-Timestamp': timestamp, 'X-Service-Event-Id': id };
    const { verdict } = explainSignature({ secret, headers, body, receivedAt: Date.parse(timestamp) });
    assert.equal(verdict, 'genuine', name);
  }
});

for (const { type, example } of eventPayloads) {
  test(`the order of the keys of ${type} is known`, () => {
    // Options come from the database, in an order of their own: test/service/options.test.ts.
    const body = JSON.stringify(example, (key, value) => (key === 'options' ? undefined : value));
    const reversed = JSON.stringify(inReverse(JSON.parse(body)));
    assert.notEqual(reversed, body);

    const { causes } = explainSignature({ secret: SECRET, headers: headersFor(body), body: reversed });

    assert.deepEqual(causes, ['body_parsed']);
  });
}

test('the debugger runs in a browser, without anything of Node', async () => {
  const entry = path.join(import.meta.dirname, 'explain-signature.ts');
  const options = { bundle: true, write: false, format: 'iife', globalName: 'debugged', platform: 'browser' } as const;
  const { outputFiles } = await build({ entryPoints: [entry], ...options });
  const body = '{"id":"evt_1","text":"é"}';
  const question = { secret: SECRET, headers: headersFor(body), body: `${body}\r\n` };
  const page = vm.createContext({ TextEncoder, TextDecoder, atob, btoa, question });

  const verdict = vm.runInContext(`${outputFiles[0]!.text}; debugged.explainSignature(question).verdict`, page);

  assert.equal(verdict, 'body_whitespace');
});

/** Keys of the service in reverse; those of metadata as they are. */
function inReverse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inReverse);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, each]) => [key, key === 'metadata' ? each : inReverse(each)]));
}
