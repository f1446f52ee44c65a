import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { signBody, standardSignature } from '../signature.ts';
import { explainSignature, type SignatureQuestion } from './explain-signature.ts';
import type { KnownSecret } from './search.ts';
import { SIGNATURE_FIXES, type SignatureVerdict } from './verdicts.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, PREVIOUS, OTHER, FOREIGN] = [9, 8, 7, 6].map(secretOf) as [string, string, string, string];
const TIMESTAMP = '2026-11-21T09:30:00.250Z';
const SIGNED_MS = Date.parse(TIMESTAMP);
const SECONDS = Math.floor(SIGNED_MS / 1000);
const ID = 'evt_01k9zzzzzz0123456789abcdef';
const JOB =
  '{"id":"job_1","status":"completed","plan":"pro","metadata":{"b":1,"a":2},"text":"Grüße, „世界“ & <co> a/b \\"a+b\\" 100%","segments":[{"start":0.5,"end":2}],"created_at":"2026-11-21T09:29:00.000Z"}';
const BODY = `{"id":"${ID}","type":"transcription.completed","created_at":"${TIMESTAMP}","metadata":{"b":1,"a":2},"data":{"job":${JOB}}}`;
const withMetadata = (metadata: string) => BODY.replaceAll('{"b":1,"a":2}', metadata);
const EXACT = withMetadata('{"order":12345678901234567890}');
const OF_PYTHON = withMetadata('{"name": "Gr\\u00fc\\u00dfe", "order": 12345678901234567890}');
const NARROW = BODY.replace('„世界“', '');

type Delivery = { headers: Record<string, string | string[]>; body: SignatureQuestion['body'] };

function delivery(body = BODY, secret = SECRET): Delivery & { body: string } {
  const signature = signBody({ secret, timestamp: TIMESTAMP, body });
  const headers = { 'X-Service-Signature': signature, 'X-Service-Timestamp': TIMESTAMP, 'X-Service-Event-Id': ID };
  return { headers, body };
}

const GOOD = delivery();
const SIGNATURE = GOOD.headers['X-Service-Signature'] as string;
const STANDARD = standardSignature({ secret: SECRET, id: ID, timestampSeconds: SECONDS, body: BODY });
const withHeaders = (change: Record<string, string | string[] | undefined>, from: Delivery = GOOD): Delivery => {
  const entries = Object.entries({ ...from.headers, ...change }).filter(([, value]) => value !== undefined);
  return { ...from, headers: Object.fromEntries(entries) as Delivery['headers'] };
};
const withSignature = (signature: string | string[] | undefined) => withHeaders({ 'X-Service-Signature': signature });
const withTimestamp = (timestamp: string | undefined) => withHeaders({ 'X-Service-Timestamp': timestamp });
const withBody = (body: Delivery['body'], from: Delivery = GOOD): Delivery => ({ ...from, body });
const signedAs = (key: string | Uint8Array, text: string): Delivery =>
  withSignature(createHmac('sha256', key).update(text).digest('hex'));
const parsed = JSON.parse(BODY);
const bare = SECRET.slice('whsec_'.length);
const answered = (date: number, receivedAt: number, headers: Record<string, string> = {}) => ({
  headers: { ...headers, date: new Date(date).toUTCString() },
  receivedAt,
});
const HOUR_MS = 3_600_000;

/** What happened to a good delivery, or to the check of it: one row each. */
const MUTATIONS: [string, Delivery, SignatureVerdict[], Partial<SignatureQuestion>?][] = [
  // Headers
  ['no signature', withSignature(undefined), ['missing_header']],
  ['no timestamp', withTimestamp(undefined), ['missing_header']],
  ['no headers', { ...GOOD, headers: {} }, ['missing_header']],
  ['another prefix', { ...GOOD, headers: renamed('Acme-') }, ['wrong_header_prefix']],
  ['no prefix', { ...GOOD, headers: renamed('') }, ['wrong_header_prefix']],
  ['a signature twice', withSignature([SIGNATURE, SIGNATURE]), ['header_twice']],
  ['a signature twice in a line', withSignature(`${SIGNATURE}, ${SIGNATURE}`), ['header_twice']],
  ['upper case', withSignature(SIGNATURE.toUpperCase()), ['signature_reformatted']],
  ['sha256= before it', withSignature(`sha256=${SIGNATURE}`), ['signature_reformatted']],
  ['v1, before it', withSignature(`v1,${SIGNATURE}`), ['signature_reformatted']],
  ['quotes around it', withSignature(`"${SIGNATURE}"`), ['signature_reformatted']],
  ['base64 of it', withSignature(Buffer.from(SIGNATURE, 'hex').toString('base64')), ['signature_reformatted']],
  ['only the headers of Standard Webhooks', { ...GOOD, headers: standardHeaders() }, ['wrong_scheme']],
  ['the signature of Standard Webhooks in its place', withSignature(STANDARD), ['wrong_scheme']],
  // Time
  ['a timestamp in milliseconds', withTimestamp(String(SIGNED_MS)), ['bad_timestamp']],
  ['a timestamp in seconds', withTimestamp(String(SECONDS)), ['bad_timestamp']],
  ['a timestamp with an offset', withTimestamp('2026-11-21T10:30:00.250+01:00'), ['bad_timestamp']],
  ['a timestamp in words', withTimestamp(new Date(SIGNED_MS).toUTCString()), ['bad_timestamp']],
  ['a timestamp that is none', withTimestamp('now'), ['bad_timestamp']],
  ['a delivery of an hour ago', GOOD, ['stale_timestamp'], { receivedAt: SIGNED_MS + HOUR_MS }],
  ['a delivery from the future', GOOD, ['clock_skew'], { receivedAt: SIGNED_MS - HOUR_MS }],
  [
    'a clock that is an hour ahead',
    GOOD,
    ['clock_skew'],
    { receivedAt: SIGNED_MS + HOUR_MS, answer: answered(SIGNED_MS + HOUR_MS, SIGNED_MS + 500) },
  ],
  // Secrets and schemes
  ['a line end after the secret', GOOD, ['secret_whitespace'], { secret: `${SECRET}\n` }],
  ['quotes around the secret', GOOD, ['secret_whitespace'], { secret: `"${SECRET}"` }],
  ['a sender with a line end after the secret', signedAs(`${SECRET}\n`, `${TIMESTAMP}.${BODY}`), ['secret_whitespace']],
  ['a secret without whsec_', GOOD, ['secret_prefix_cut'], { secret: bare }],
  ['a sender without whsec_', signedAs(bare, `${TIMESTAMP}.${BODY}`), ['secret_prefix_cut']],
  ['a decoded secret', signedAs(Buffer.from(bare, 'base64'), `${TIMESTAMP}.${BODY}`), ['secret_decoded']],
  ['the body alone', signedAs(SECRET, BODY), ['wrong_scheme']],
  [
    'the body alone, as GitHub signs',
    withSha256(createHmac('sha256', SECRET).update(BODY).digest('hex')),
    ['wrong_scheme'],
  ],
  ['the id too', signedAs(SECRET, `${ID}.${TIMESTAMP}.${BODY}`), ['wrong_scheme']],
  ['seconds, as Stripe signs', signedAs(SECRET, `${SECONDS}.${BODY}`), ['wrong_scheme']],
  ['no dot', signedAs(SECRET, `${TIMESTAMP}${BODY}`), ['wrong_scheme']],
  ['the previous secret', delivery(BODY, PREVIOUS), ['previous_secret']],
  ['the secret of another webhook', delivery(BODY, OTHER), ['secret_of_another_webhook']],
  ['a foreign secret', delivery(BODY, FOREIGN), ['unexplained']],
  // Bodies
  ['a body with indentation', withBody(JSON.stringify(parsed, null, 2)), ['body_parsed']],
  ['a body as Python writes it', withBody(pythonJson(BODY)), ['body_parsed']],
  ['long numbers as Python writes them', withBody(pythonJson(EXACT), delivery(EXACT)), ['body_parsed']],
  ['metadata of Python, parsed by Python', withBody(pythonJson(OF_PYTHON), delivery(OF_PYTHON)), ['body_parsed']],
  ['a body with escapes', withBody(escapedJson(BODY)), ['body_parsed']],
  ['a body as PHP writes it', withBody(escapedJson(BODY).replaceAll('/', '\\/')), ['body_parsed']],
  ['a body as Go writes it', withBody(goJson(parsed)), ['body_parsed']],
  ['a body with another key first', withBody(JSON.stringify({ type: parsed.type, ...parsed })), ['body_parsed']],
  ['an object in place of the body', withBody(parsed), ['body_parsed']],
  ['an object made a string', withBody(String(parsed)), ['body_parsed']],
  ['a body that was read already', withBody(''), ['body_empty']],
  ['a saved request without its body', withBody('\r\n'), ['body_empty']],
  ['a line end after the body', withBody(`${BODY}\n`), ['body_whitespace']],
  ['spaces around the body', withBody(`  ${BODY} \r\n`), ['body_whitespace']],
  ['a byte order mark', withBody(`\ufeff${BODY}`), ['body_bom']],
  [
    'a body read as ASCII, with its bytes as replacement characters',
    withBody(BODY.replace('ü', '\ufffd\ufffd')),
    ['body_charset'],
  ],
  ['headers as Django, Rack and PHP name them', { ...GOOD, headers: inWsgi(GOOD.headers) }, []],
  ['such headers under another prefix', { ...GOOD, headers: inWsgi(renamed('Acme-')) }, ['wrong_header_prefix']],
  ['a body in a JSON string', withBody(JSON.stringify(BODY)), ['body_double_encoded']],
  ['a body in a JSON string, with spaces', withBody(JSON.stringify(pythonJson(BODY))), ['body_double_encoded']],
  ['a body read as Latin-1', withBody(Buffer.from(BODY).toString('latin1')), ['body_charset']],
  [
    'a body read as Windows-1252',
    withBody(new TextDecoder('windows-1252').decode(Buffer.from(BODY))),
    ['body_charset'],
  ],
  ['a body written as Latin-1', withBody(Buffer.from(NARROW, 'latin1'), delivery(NARROW)), ['body_charset']],
  ['a body encoded as a form', withBody(`${encodeURIComponent(BODY).replaceAll('%20', '+')}=`), ['body_charset']],
  ['a body with + read as spaces', withBody(plus(' '), delivery(plus('+'))), ['body_charset']],
  ['a body in base64', withBody(Buffer.from(BODY).toString('base64')), ['body_base64']],
  ['a compressed body', withBody(gzipSync(BODY)), ['body_compressed']],
  ['a compressed body read as text', withBody(gzipSync(BODY).toString()), ['body_compressed']],
  ['a body that was cut', withBody(BODY.slice(0, 100)), ['body_truncated']],
  // Pairs
  ['a parsed body and a cut secret', withBody(goJson(parsed)), ['secret_prefix_cut', 'body_parsed'], { secret: bare }],
  [
    'a parsed body and a line end',
    withBody(goJson(parsed)),
    ['secret_whitespace', 'body_parsed'],
    { secret: `${SECRET}\n` },
  ],
  ['a parsed body and no timestamp', withBody(goJson(parsed), signedAs(SECRET, BODY)), ['wrong_scheme', 'body_parsed']],
  [
    'a decoded secret and the id',
    signedAs(decodedSecret(), `${ID}.${TIMESTAMP}.${BODY}`),
    ['secret_decoded', 'wrong_scheme'],
  ],
  [
    'the previous secret and a line end',
    withBody(`${BODY}\n`, delivery(BODY, PREVIOUS)),
    ['previous_secret', 'body_whitespace'],
  ],
  [
    'upper case and a parsed body',
    { headers: withSignature(SIGNATURE.toUpperCase()).headers, body: goJson(parsed) },
    ['signature_reformatted', 'body_parsed'],
  ],
  [
    'an old delivery with a parsed body',
    withBody(goJson(parsed)),
    ['body_parsed', 'stale_timestamp'],
    { receivedAt: SIGNED_MS + 301_000 },
  ],
];

/** The same with what was sent: [the change, what was received, the verdicts, what was sent]. */
const COMPARED: [string, Delivery, SignatureVerdict[], string?][] = [
  ['a cut body', withBody(BODY.slice(0, -7)), ['body_truncated']],
  ['an empty body', withBody(''), ['body_empty']],
  ['a body written as ASCII', withBody(BODY.replace(/[^\0-\x7f]/g, '?')), ['body_charset'], BODY],
  ['a body without all that is not ASCII', withBody(BODY.replace(/[^\0-\x7f]/g, '')), ['body_charset'], BODY],
  ['a byte order mark', withBody(`\ufeff${BODY}`), ['body_bom'], BODY],
  ['a body with another word', withBody(BODY.replace('job_1', 'job_2')), ['body_changed_at']],
  ['a number that lost digits', withBody(JSON.stringify(JSON.parse(EXACT)), delivery(EXACT)), ['body_parsed'], EXACT],
  ['sorted metadata', withBody(withMetadata('{"a":2,"b":1}')), ['body_parsed']],
  ['spaces inside', withBody(BODY.replaceAll('":', '" :'), delivery(EXACT)), ['body_changed_at'], EXACT],
  ['another timestamp', withTimestamp('2026-11-21T09:30:01.250Z'), ['header_changed_by_proxy']],
  ['a forged signature', withSignature('0'.repeat(64)), ['header_changed_by_proxy']],
  ['a secret that is not known', delivery(BODY, FOREIGN), ['wrong_secret']],
];

const SECRETS: KnownSecret[] = [
  { secret: SECRET, of: 'this_webhook' },
  { secret: PREVIOUS, of: 'previous' },
  { secret: OTHER, of: 'another_webhook' },
];

for (const [what, given, causes, more] of MUTATIONS) {
  test(`${what}: ${causes.join(', ')}`, () => {
    const explanation = explainSignature({ secret: SECRETS, receivedAt: SIGNED_MS + 1_000, ...given, ...more });

    assert.deepEqual(explanation.causes, causes);
    assertConsistent(explanation, given);
  });
}

for (const [what, given, causes, sent = BODY] of COMPARED) {
  test(`compared with what was sent, ${what}: ${causes.join(', ')}`, () => {
    const headers = causes.includes('wrong_secret') ? given.headers : delivery(sent).headers;
    const explanation = explainSignature({ secret: SECRETS, ...given, sent: { headers, body: sent } });

    assert.deepEqual(explanation.causes, causes);
    assert.equal(explanation.difference === null, Buffer.from(given.body as string).equals(Buffer.from(sent)));
    assertConsistent(explanation, given);
  });
}

test('each mutation has one row, and each verdict a row', () => {
  const names = MUTATIONS.map(([name]) => name);
  const seen = new Set([...MUTATIONS, ...COMPARED].flatMap(([, , causes]) => causes));

  assert.ok(names.length >= 40 && new Set(names).size === names.length);
  const rows = MUTATIONS.map(([, { headers, body }, , more]) => JSON.stringify([headers, body, more]));
  assert.equal(new Set(rows).size, rows.length);
  assert.deepEqual(
    Object.keys(SIGNATURE_FIXES).filter((verdict) => !seen.has(verdict as SignatureVerdict)),
    ['genuine'],
  );
});

for (const [what, given] of [
  ['as it was sent', GOOD],
  ['with names of headers in lower case', { ...GOOD, headers: lower(GOOD.headers) }],
  ['in bytes', withBody(Buffer.from(BODY))],
  ['with a signature by the previous secret too', withHeaders({ 'X-Service-Signature-Previous': '0'.repeat(64) })],
  [
    'signed by the secret before a rotation',
    withHeaders({ 'X-Service-Signature': '0'.repeat(64), 'X-Service-Signature-Previous': SIGNATURE }),
  ],
  ['in a Headers object', { ...GOOD, headers: new Headers(GOOD.headers as Record<string, string>) }],
] as [string, SignatureQuestion & Delivery][]) {
  test(`a delivery ${what} is genuine`, () => {
    const explanation = explainSignature({ ...given, secret: SECRETS, receivedAt: SIGNED_MS + 1_000 });

    assert.deepEqual([explanation.verdict, explanation.causes], ['genuine', []]);
    assert.deepEqual(
      explanation.checks.map(({ result }) => result),
      ['ok', 'ok', 'ok', 'ok'],
    );
    assertConsistent(explanation, given);
  });
}

test('the signature is checked also when the time is wrong, and the time when the signature is', () => {
  const results = (given: Partial<SignatureQuestion>) =>
    explainSignature({ secret: SECRET, ...GOOD, receivedAt: SIGNED_MS, ...given }).checks.map(({ result }) => result);

  assert.deepEqual(results({ receivedAt: SIGNED_MS + HOUR_MS }), ['ok', 'wrong', 'ok', 'ok']);
  assert.deepEqual(results({ secret: FOREIGN }), ['ok', 'ok', 'wrong', 'unknown']);
  assert.deepEqual(results({ headers: withTimestamp(String(SIGNED_MS)).headers }), ['wrong', 'ok', 'ok', 'ok']);
  assert.deepEqual(results({ headers: {} }), ['wrong', 'unknown', 'unknown', 'unknown']);
  assert.deepEqual(results({ body: `${BODY}\n` }), ['ok', 'ok', 'wrong', 'wrong']);
});

test('without a time of receipt the age is taken from the Date of the answer, else it is not checked', () => {
  const verdict = (answer: SignatureQuestion['answer']) =>
    explainSignature({ secret: SECRET, ...GOOD, ...(answer && { answer }) }).verdict;

  assert.equal(verdict(answered(SIGNED_MS + HOUR_MS, SIGNED_MS + HOUR_MS)), 'stale_timestamp');
  assert.equal(verdict(answered(SIGNED_MS + HOUR_MS, SIGNED_MS)), 'clock_skew');
  assert.equal(verdict(answered(SIGNED_MS + 2_000, SIGNED_MS)), 'genuine');
  assert.equal(verdict({ headers: { date: 'today' }, receivedAt: SIGNED_MS + HOUR_MS }), 'genuine');
  assert.equal(verdict(null), 'genuine');
});

test('checks say what was expected and found, without values', () => {
  const { checks } = explainSignature({ secret: SECRET, ...withSignature(`sha256=${SIGNATURE.toUpperCase()}`) });

  assert.match(checks[0]!.expected, /64 lower-case hex digits/);
  assert.match(checks[0]!.found!, /X-Service-Signature: sha256= and 64 hex digits in upper case/);
});

test('the kind of a difference is named', () => {
  const kinds: [string, string, string][] = [
    [BODY, withMetadata('{"a":2,"b":1}'), 'reordered'],
    [BODY, escapedJson(BODY), 'escaped'],
    [EXACT, JSON.stringify(JSON.parse(EXACT)), 'number_precision'],
    [BODY, BODY.slice(0, -1), 'truncated'],
    [BODY, `${BODY}\n`, 'whitespace'],
    [BODY, BODY.replace('job_1', 'job_2'), 'changed'],
  ];

  for (const [sent, body, kind] of kinds) {
    assert.equal(
      explainSignature({ secret: SECRET, ...GOOD, body, sent: { headers: null, body: sent } }).difference!.kind,
      kind,
    );
  }
});

test('the first byte that differs is shown with 20 on each side, and control characters as escapes', () => {
  const body = BODY.replace('"data"', '\t"data"');
  const { difference } = explainSignature({ secret: SECRET, ...GOOD, body, sent: GOOD });

  const at = BODY.indexOf('"data"');
  assert.deepEqual([difference!.at, difference!.receivedBytes - difference!.sentBytes], [at, 1]);
  assert.equal(JSON.parse(`"${difference!.received}"`), body.slice(at - 20, at + 20));
  assert.match(difference!.received, /\\t\\"data\\"/);
});

test('the fix names what to do in the framework that is chosen, or that the headers name', () => {
  const fix = (more: Partial<SignatureQuestion>) => {
    const explanation = explainSignature({ secret: SECRET, ...withBody(goJson(parsed)), ...more });
    return [explanation.framework, explanation.fix.slice(SIGNATURE_FIXES[explanation.verdict].length)];
  };
  const answer = (name: string, value: string) => ({ answer: answered(SIGNED_MS, SIGNED_MS, { [name]: value }) });

  assert.deepEqual(fix({}), [null, '']);
  assert.match(fix({ framework: 'flask' })[1]!, /^ Flask: use request\.get_data\(\)/);
  assert.match(fix(answer('X-Powered-By', 'Express'))[1]!, /^ Express: use express\.raw/);
  assert.equal(fix(answer('Server', 'uvicorn'))[0], 'fastapi');
  assert.equal(fix({ ...answer('X-Powered-By', 'Express'), framework: 'hono' })[0], 'hono');
  assert.deepEqual(fix({ framework: 'express', body: GOOD.body }), ['express', '']);
  assert.match(fix({ framework: 'express', body: BODY.slice(0, 100) })[1]!, /limit/);
});

test('whatever is given, there is an answer', () => {
  const bodies = [
    '',
    '{',
    '""',
    'null',
    '%',
    '%E0%A4%A',
    '\0',
    '[1e999]',
    new Uint8Array(0),
    new Uint8Array([0xff, 0xfe]),
    {},
    [],
    null,
  ];
  for (const body of bodies as SignatureQuestion['body'][]) {
    for (const secret of ['', 'whsec_', 'x', SECRET]) {
      const { verdict } = explainSignature({ ...GOOD, secret, body, sent: { headers: null, body: BODY } });
      assert.notEqual(verdict, 'genuine');
    }
  }
});

/** The answer names no secret and no signature, and its parts fit together. */
function assertConsistent(explanation: ReturnType<typeof explainSignature>, { headers }: Delivery): void {
  const { verdict, causes, fix, checks } = explanation;
  assert.equal(verdict, causes[0] ?? 'genuine');
  assert.equal(fix, SIGNATURE_FIXES[verdict]);
  const text = JSON.stringify(explanation).toLowerCase();
  const hidden = [SECRET, PREVIOUS, OTHER, bare, SIGNATURE, STANDARD, ...[headers['X-Service-Signature']].flat()];
  for (const value of hidden) if (value) assert.equal(text.includes(value.toLowerCase()), false);
  assert.equal(
    checks.every(({ result }) => result !== 'wrong') && verdict !== 'genuine' && verdict !== 'wrong_secret',
    false,
  );
}

function lower(headers: Delivery['headers']): Delivery['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function inWsgi(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  const named = Object.entries(headers).map(([name, value]) => [
    `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
    value,
  ]);
  return Object.fromEntries(named);
}

function renamed(prefix: string): Delivery['headers'] {
  const entries = Object.entries(GOOD.headers).map(([name, value]) => [name.replace('X-Service-', prefix), value]);
  return Object.fromEntries(entries);
}

function standardHeaders(): Delivery['headers'] {
  return { 'webhook-id': ID, 'webhook-timestamp': String(SECONDS), 'webhook-signature': STANDARD };
}

function withSha256(hex: string): Delivery {
  return withSignature(`sha256=${hex}`);
}

function decodedSecret(): Uint8Array {
  return Buffer.from(bare, 'base64');
}

/** A form's text that has either in place of all spaces. */
function plus(character: string): string {
  return BODY.replaceAll(' ', character).replaceAll('+', character);
}

function escapedJson(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As `json.dumps(json.loads(text))` writes it: numbers keep their digits. */
function pythonJson(text: string): string {
  const spaced = text.replace(/("(?:[^"\\]|\\.)*")|([:,]) ?/g, (_, literal, mark) => literal ?? `${mark} `);
  return escapedJson(spaced);
}

/** As Go's json.Marshal writes a map: sorted, and with escapes for HTML. */
function goJson(value: unknown): string {
  const sorted = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(sorted);
    if (typeof each !== 'object' || each === null) return each;
    const entries = Object.entries(each).map(
      ([key, inner]) => [key, key === 'metadata' ? inner : sorted(inner)] as const,
    );
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
  };
  const escapes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  return JSON.stringify(sorted(value)).replace(/[<>&]/g, (each) => escapes[each]!);
}
