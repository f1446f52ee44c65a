import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { KnownSecret, SignatureQuestion, SignatureVerdict } from './explain-signature.ts';
import { explainSignature } from './explain-signature.ts';
import { signBody, standardSignature } from './signature.ts';
import { SIGNATURE_FIXES } from './signature-fixes.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, PREVIOUS, OTHER, FOREIGN] = [9, 8, 7, 6].map(secretOf) as [string, string, string, string];
const TIMESTAMP = '2026-11-21T09:30:00.250Z';
const SIGNED_MS = Date.parse(TIMESTAMP);
const ID = 'evt_01k9zzzzzz0123456789abcdef';
const JOB = '{"id":"job_1","text":"Grüße, 世界 & co. \\"a+b\\" 100%","segments":[{"start":0.5,"end":2}]}';
const BODY = `{"id":"${ID}","type":"transcription.completed","created_at":"${TIMESTAMP}","metadata":{"b":1,"a":2},"data":{"job":${JOB}}}`;
const EXACT = BODY.replace('{"b":1,"a":2}', '{"order": 12345678901234567890}');

type Delivery = { headers: Record<string, string | string[]>; body: string | Uint8Array };

function delivery(body = BODY, secret = SECRET): Delivery & { body: string } {
  const signature = signBody({ secret, timestamp: TIMESTAMP, body });
  const headers = { 'X-Service-Signature': signature, 'X-Service-Timestamp': TIMESTAMP, 'X-Service-Event-Id': ID };
  return { headers, body };
}

const GOOD = delivery();
const SIGNATURE = GOOD.headers['X-Service-Signature'] as string;
const withHeaders = (change: Record<string, string | string[] | undefined>, from = GOOD): Delivery => {
  const entries = Object.entries({ ...from.headers, ...change }).filter(([, value]) => value !== undefined);
  return { ...from, headers: Object.fromEntries(entries) as Delivery['headers'] };
};
const withBody = (body: string | Uint8Array, from: Delivery = GOOD): Delivery => ({ ...from, body });
const signedAs = (key: string | Uint8Array, text: string): Delivery =>
  withHeaders({ 'X-Service-Signature': createHmac('sha256', key).update(text).digest('hex') });
const parsed = JSON.parse(BODY);
const bare = SECRET.slice('whsec_'.length);
const pythonJson = BODY.replace(/":(?=["{[\d])/g, '": ')
  .replace(/,"/g, ', "')
  .replace(/\},\{/g, '}, {');

const CASES: [string, Delivery, SignatureVerdict[], Partial<SignatureQuestion>?][] = [
  ['an unchanged delivery', GOOD, []],
  ['names of headers in lower case', { ...GOOD, headers: lower(GOOD.headers) }, []],
  ['bytes in place of text', withBody(Buffer.from(BODY)), []],
  ['no signature', withHeaders({ 'X-Service-Signature': undefined }), ['missing_header']],
  ['no timestamp', withHeaders({ 'X-Service-Timestamp': undefined }), ['missing_header']],
  ['no headers', { ...GOOD, headers: {} }, ['missing_header']],
  ['another prefix', { ...GOOD, headers: renamed('Acme-') }, ['wrong_header_prefix']],
  ['a signature twice', withHeaders({ 'X-Service-Signature': [SIGNATURE, SIGNATURE] }), ['header_twice']],
  [
    'a signature twice in a line',
    withHeaders({ 'X-Service-Signature': `${SIGNATURE}, ${SIGNATURE}` }),
    ['header_twice'],
  ],
  ['upper case', withHeaders({ 'X-Service-Signature': SIGNATURE.toUpperCase() }), ['signature_reformatted']],
  ['sha256= before it', withHeaders({ 'X-Service-Signature': `sha256=${SIGNATURE}` }), ['signature_reformatted']],
  [
    'base64 of it',
    withHeaders({ 'X-Service-Signature': Buffer.from(SIGNATURE, 'hex').toString('base64') }),
    ['signature_reformatted'],
  ],
  [
    'a timestamp in seconds',
    withHeaders({ 'X-Service-Timestamp': String(Math.floor(SIGNED_MS / 1000)) }),
    ['bad_timestamp'],
  ],
  [
    'a timestamp in words',
    withHeaders({ 'X-Service-Timestamp': new Date(SIGNED_MS).toUTCString() }),
    ['bad_timestamp'],
  ],
  ['a delivery of an hour ago', GOOD, ['stale_timestamp'], { receivedAt: SIGNED_MS + 3_600_000 }],
  ['a delivery from the future', GOOD, ['clock_skew'], { receivedAt: SIGNED_MS - 3_600_000 }],
  ['a line end after the secret', GOOD, ['secret_whitespace'], { secret: `${SECRET}\n` }],
  ['quotes around the secret', GOOD, ['secret_whitespace'], { secret: `"${SECRET}"` }],
  ['a sender with a line end after the secret', signedAs(`${SECRET}\n`, `${TIMESTAMP}.${BODY}`), ['secret_whitespace']],
  ['a secret without whsec_', GOOD, ['secret_prefix_cut'], { secret: bare }],
  ['a sender without whsec_', signedAs(bare, `${TIMESTAMP}.${BODY}`), ['secret_prefix_cut']],
  ['a decoded secret', signedAs(Buffer.from(bare, 'base64'), `${TIMESTAMP}.${BODY}`), ['secret_decoded']],
  ['the body alone', signedAs(SECRET, BODY), ['wrong_scheme']],
  ['the id too', signedAs(SECRET, `${ID}.${TIMESTAMP}.${BODY}`), ['wrong_scheme']],
  [
    'the signature of Standard Webhooks',
    withHeaders({
      'X-Service-Signature': standardSignature({
        secret: SECRET,
        id: ID,
        timestampSeconds: Math.floor(SIGNED_MS / 1000),
        body: BODY,
      }),
    }),
    ['signature_reformatted', 'secret_decoded', 'wrong_scheme'],
  ],
  ['the previous secret', delivery(BODY, PREVIOUS), ['previous_secret']],
  ['the secret of another webhook', delivery(BODY, OTHER), ['secret_of_another_webhook']],
  ['a body with indentation', withBody(JSON.stringify(parsed, null, 2)), ['body_parsed']],
  ['a body as Python writes it', withBody(pythonJson), ['body_parsed']],
  ['a body with escapes', withBody(JSON.stringify(parsed).replace(/[\u0080-\uffff]/g, escaped)), ['body_parsed']],
  ['a body with other keys first', withBody(JSON.stringify({ type: parsed.type, ...parsed })), ['body_parsed']],
  ['a line end after the body', withBody(`${BODY}\n`), ['body_whitespace']],
  ['spaces around the body', withBody(`  ${BODY} \r\n`), ['body_whitespace']],
  ['a byte order mark', withBody(`\ufeff${BODY}`), ['body_whitespace']],
  [
    'other line ends',
    withBody(BODY.replaceAll(',', ',\r\n'), delivery(BODY.replaceAll(',', ',\n'))),
    ['body_whitespace'],
  ],
  ['a body in a JSON string', withBody(JSON.stringify(BODY)), ['body_double_encoded']],
  ['a body read as Latin-1', withBody(Buffer.from(BODY).toString('latin1')), ['body_charset']],
  [
    'a body written as Latin-1',
    withBody(Buffer.from(BODY.replace('世界', ''), 'latin1'), delivery(BODY.replace('世界', ''))),
    ['body_charset'],
  ],
  ['a body encoded as a form', withBody(`${encodeURIComponent(BODY).replaceAll('%20', '+')}=`), ['body_charset']],
  ['a body in base64', withBody(Buffer.from(BODY).toString('base64')), ['body_base64']],
  ['a compressed body', withBody(gzipSync(BODY)), ['body_compressed']],
  ['two mistakes', withBody(JSON.stringify(parsed, null, 2)), ['secret_prefix_cut', 'body_parsed'], { secret: bare }],
  [
    'an old delivery with a parsed body',
    withBody(JSON.stringify(parsed, null, 2)),
    ['body_parsed', 'stale_timestamp'],
    { receivedAt: SIGNED_MS + 301_000 },
  ],
  ['a foreign secret', delivery(BODY, FOREIGN), ['unexplained']],
];

const SENT: [string, Delivery, SignatureVerdict[], string?][] = [
  ['nothing that differs', GOOD, []],
  ['a cut body', withBody(BODY.slice(0, -7)), ['body_truncated']],
  ['a body with another word', withBody(BODY.replace('world', 'x').replace('job_1', 'job_2')), ['body_changed_at']],
  ['a number that lost digits', withBody(JSON.stringify(JSON.parse(EXACT)), delivery(EXACT)), ['body_parsed'], EXACT],
  ['sorted keys', withBody(BODY.replace('{"b":1,"a":2}', '{"a":2,"b":1}')), ['body_parsed']],
  [
    'spaces inside',
    withBody(BODY.replaceAll('":', '" :').replace('{"order" : ', '{'), delivery(EXACT)),
    ['body_changed_at'],
    EXACT,
  ],
  [
    'another timestamp',
    withHeaders({ 'X-Service-Timestamp': '2026-11-21T09:30:01.250Z' }),
    ['header_changed_by_proxy'],
  ],
  ['a forged signature', withHeaders({ 'X-Service-Signature': '0'.repeat(64) }), ['header_changed_by_proxy']],
];

const SECRETS: KnownSecret[] = [
  { secret: SECRET, of: 'this_webhook' },
  { secret: PREVIOUS, of: 'previous' },
  { secret: OTHER, of: 'another_webhook' },
];

for (const [what, given, causes, more] of CASES) {
  test(`${what}: ${causes.join(', ') || 'genuine'}`, async () => {
    const explanation = await explainSignature({ secret: SECRETS, receivedAt: SIGNED_MS + 1_000, ...given, ...more });

    assert.deepEqual(explanation.causes, causes);
    assertConsistent(explanation, given);
  });
}

for (const [what, given, causes, sent = BODY] of SENT) {
  test(`compared with what was sent, ${what}: ${causes.join(', ') || 'genuine'}`, async () => {
    const of = { headers: delivery(sent).headers, body: sent };
    const explanation = await explainSignature({ secret: SECRETS, ...given, sent: of });

    assert.deepEqual(explanation.causes, causes);
    const isSame = Buffer.from(given.body as string).equals(Buffer.from(sent));
    assert.equal(explanation.difference === null, isSame);
    assertConsistent(explanation, given);
  });
}

test('a delivery as it was sent, by a secret that is not known, is one of a wrong secret', async () => {
  const given = delivery(BODY, FOREIGN);

  assert.equal((await explainSignature({ secret: SECRETS, ...given, sent: given })).verdict, 'wrong_secret');
});

test('the first byte that differs is shown with its surroundings, and control characters as escapes', async () => {
  const { difference } = await explainSignature({
    secret: SECRET,
    ...withBody(BODY.replace('"data"', '\t"data"')),
    sent: GOOD,
  });

  assert.deepEqual([difference!.at, difference!.receivedBytes - difference!.sentBytes], [BODY.indexOf('"data"'), 1]);
  assert.match(difference!.received, /\\t\\"data\\"/);
});

test('a Headers object is read too', async () => {
  const headers = new Headers(GOOD.headers as Record<string, string>);

  assert.equal((await explainSignature({ secret: SECRET, headers, body: BODY })).verdict, 'genuine');
});

test('whatever is given, there is an answer', async () => {
  for (const body of ['', '{', '""', 'null', '%', '%E0%A4%A', '\0', new Uint8Array(0), new Uint8Array([0xff, 0xfe])]) {
    for (const secret of ['', 'whsec_', 'x', SECRET]) {
      const { verdict } = await explainSignature({ ...GOOD, secret, body, sent: { headers: null, body: BODY } });
      assert.notEqual(verdict, 'genuine');
    }
  }
});

test('each verdict is one of a case here', () => {
  const seen = new Set([...CASES, ...SENT].flatMap(([, , causes]) => causes));

  assert.deepEqual(
    Object.keys(SIGNATURE_FIXES).filter((verdict) => !seen.has(verdict as SignatureVerdict)),
    ['genuine', 'wrong_secret'],
  );
});

/** The answer names no secret and no signature, and its parts fit together. */
function assertConsistent(explanation: Awaited<ReturnType<typeof explainSignature>>, { headers }: Delivery): void {
  const { verdict, causes, fix, checks } = explanation;
  assert.equal(verdict, causes[0] ?? 'genuine');
  assert.equal(fix, SIGNATURE_FIXES[verdict]);
  const text = JSON.stringify(explanation);
  const hidden = [SECRET, PREVIOUS, OTHER, bare, SIGNATURE, ...[headers['X-Service-Signature']].flat()];
  for (const value of hidden) if (value) assert.equal(text.includes(value), false);
  assert.equal(checks.every(({ result }) => result !== 'wrong') && verdict !== 'genuine', false);
}

function lower(headers: Delivery['headers']): Delivery['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function renamed(prefix: string): Delivery['headers'] {
  const entries = Object.entries(GOOD.headers).map(([name, value]) => [name.replace('X-Service-', prefix), value]);
  return Object.fromEntries(entries);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
