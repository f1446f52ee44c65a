import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { randomFrom } from '../../../test/fixtures/random.ts';
import vectorFile from '../../vectors.json' with { type: 'json' };
import { signBody, standardSignature, verifyDelivery } from './signature.ts';
import { signTestDelivery } from './test-delivery.ts';
import { type Verification, type VerificationCode, WebhookVerificationError } from './verification.ts';
import { signBodyAsync, verifyDeliveryAsync } from './web-signature.ts';

const { vectors } = vectorFile;
const FIRST = vectors[0]!;
const OTHER_SECRET = vectors[1]!.secret;
const NOW_MS = Date.parse(FIRST.timestamp);

type Vector = typeof FIRST;

function headersOf(vector: Vector): Record<string, string> {
  return { 'X-Service-Timestamp': vector.timestamp, 'X-Service-Signature': vector.signature };
}

function deliveryOf(vector: Vector) {
  return { secret: vector.secret, headers: headersOf(vector), body: vector.body, now: Date.parse(vector.timestamp) };
}

for (const vector of vectors) {
  test(`vector "${vector.name}": both signatures match, of text and of bytes`, () => {
    for (const body of [vector.body, new TextEncoder().encode(vector.body)]) {
      assert.equal(signBody({ ...vector, body }), vector.signature);
      assert.equal(
        standardSignature({ ...vector, timestampSeconds: vector.timestamp_seconds, body }),
        vector.standard_signature,
      );
    }
  });

  test(`vector "${vector.name}": WebCrypto makes the same signature`, async () => {
    for (const body of [vector.body, new TextEncoder().encode(vector.body)]) {
      assert.equal(await signBodyAsync({ ...vector, body }), vector.signature);
    }
  });

  test(`vector "${vector.name}": both verifications return the event`, async () => {
    assert.deepEqual(verifyDelivery(deliveryOf(vector)), JSON.parse(vector.body));
    assert.deepEqual(await verifyDeliveryAsync(deliveryOf(vector)), JSON.parse(vector.body));
  });
}

const LIBRARIES = { standardwebhooks: StandardWebhook, svix: SvixWebhook };

for (const [name, Library] of Object.entries(LIBRARIES)) {
  for (const { secret, id, body } of vectors) {
    test(`the library ${name} accepts the Standard Webhooks signature of ${id}, and refuses another body`, () => {
      // These libraries read the clock themselves, so the signature is a fresh one.
      const timestampSeconds = Math.floor(Date.now() / 1000);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': [OTHER_SECRET, secret]
          .map((key) => standardSignature({ secret: key, id, timestampSeconds, body }))
          .join(' '),
      };
      const library = new Library(secret);

      assert.doesNotThrow(() => library.verify(body, headers));
      assert.throws(() => library.verify(`${body} `, headers));
    });
  }
}

/** By node:crypto and by WebCrypto. */
const VERIFICATIONS = [async (delivery: Verification) => verifyDelivery(delivery), verifyDeliveryAsync];

/** The outcome of both verifications. */
async function codesOf(delivery: Partial<Verification>): Promise<(VerificationCode | 'accepted')[]> {
  const outcomes = VERIFICATIONS.map((verify) =>
    verify({ ...deliveryOf(FIRST), ...delivery }).then(
      () => 'accepted' as const,
      (error) => {
        assert.ok(error instanceof WebhookVerificationError, String(error));
        return error.code;
      },
    ),
  );
  return await Promise.all(outcomes);
}

function withHeaders(changes: Record<string, string | string[] | undefined>) {
  return { headers: { ...headersOf(FIRST), ...changes } };
}

/** A correctly signed delivery whose body or timestamp is malformed. */
function signed(body: string, timestamp = FIRST.timestamp) {
  const signature = signBody({ secret: FIRST.secret, timestamp, body });
  return { ...withHeaders({ 'X-Service-Signature': signature, 'X-Service-Timestamp': timestamp }), body };
}

const SHORT_SECRET = `whsec_${Buffer.alloc(23, 1).toString('base64')}`;
const LATIN1_TWIN = FIRST.body.replace('webhook', 'webh\u00f6\u00f6k');

const CASES: [what: string, delivery: Partial<Verification>, code: VerificationCode | 'accepted'][] = [
  ['as sent', {}, 'accepted'],
  ['with the body as bytes', { body: new TextEncoder().encode(FIRST.body) }, 'accepted'],
  ['with a changed byte', { body: FIRST.body.replace('test', 'tesu') }, 'bad_signature'],
  ['with a byte more', { body: `${FIRST.body}\n` }, 'bad_signature'],
  ['with a byte less', { body: FIRST.body.slice(0, -1) }, 'bad_signature'],
  ['with an empty body', { body: '' }, 'bad_signature'],
  ['with non-ASCII in the body', { body: LATIN1_TWIN }, 'bad_signature'],
  ['serialised again', { body: JSON.stringify(JSON.parse(FIRST.body), null, 1) }, 'bad_signature'],
  ['by another secret', { secret: OTHER_SECRET }, 'bad_signature'],
  ['by one of several secrets', { secret: [OTHER_SECRET, FIRST.secret] }, 'accepted'],
  ['without secrets', { secret: [] }, 'bad_secret'],
  ['with an empty secret', { secret: '' }, 'bad_secret'],
  ['with a short secret', { secret: SHORT_SECRET }, 'bad_secret'],
  ['with a short secret beside the right one', { secret: [FIRST.secret, SHORT_SECRET] }, 'bad_secret'],
  ['with the secret without its prefix', { secret: FIRST.secret.slice(6) }, 'bad_secret'],
  ['with a line end behind the secret', { secret: `${FIRST.secret}\n` }, 'bad_secret'],
  ['with a secret that is no base64', { secret: `whsec_${'!'.repeat(44)}` }, 'bad_secret'],
  ['300 s late', { now: NOW_MS + 300_000 }, 'accepted'],
  ['300.001 s late', { now: NOW_MS + 300_001 }, 'stale_timestamp'],
  ['300 s early', { now: NOW_MS - 300_000 }, 'accepted'],
  ['300.001 s early', { now: NOW_MS - 300_001 }, 'stale_timestamp'],
  ['late, with a longer tolerance', { now: NOW_MS + 600_000, toleranceSeconds: 600 }, 'accepted'],
  ['late, with a shorter tolerance', { now: NOW_MS + 2_000, toleranceSeconds: 1 }, 'stale_timestamp'],
  ['with a broken tolerance', { toleranceSeconds: Number.NaN }, 'stale_timestamp'],
  ['with a broken clock', { now: Number.NaN }, 'stale_timestamp'],
  ['without a signature', withHeaders({ 'X-Service-Signature': undefined }), 'missing_header'],
  ['with an empty signature', withHeaders({ 'X-Service-Signature': '' }), 'missing_header'],
  ['with two signatures', withHeaders({ 'X-Service-Signature': [FIRST.signature, 'x'] }), 'missing_header'],
  [
    'with its signature twice, joined as by Headers',
    withHeaders({ 'X-Service-Signature': `${FIRST.signature}, ${FIRST.signature}` }),
    'bad_signature',
  ],
  ['with one signature in a list', withHeaders({ 'X-Service-Signature': [FIRST.signature] }), 'accepted'],
  ['without a timestamp', withHeaders({ 'X-Service-Timestamp': undefined }), 'missing_header'],
  ['with another timestamp', withHeaders({ 'X-Service-Timestamp': '2026-11-21T09:30:00.001Z' }), 'bad_signature'],
  ['with seconds as timestamp', withHeaders({ 'X-Service-Timestamp': '1795253400' }), 'bad_timestamp'],
  ['with a timestamp without zone', withHeaders({ 'X-Service-Timestamp': '2026-11-21T09:30:00.000' }), 'bad_timestamp'],
  ['with an impossible timestamp', withHeaders({ 'X-Service-Timestamp': '2026-13-41T09:30:00.000Z' }), 'bad_timestamp'],
  ['in upper case', withHeaders({ 'X-Service-Signature': FIRST.signature.toUpperCase() }), 'bad_signature'],
  ['cut short', withHeaders({ 'X-Service-Signature': FIRST.signature.slice(0, 32) }), 'bad_signature'],
  ['with a longer signature', withHeaders({ 'X-Service-Signature': `${FIRST.signature}0` }), 'bad_signature'],
  ['with a signature beyond ASCII', withHeaders({ 'X-Service-Signature': 'ü'.repeat(32) }), 'bad_signature'],
  [
    'signed before a rotation',
    withHeaders({ 'X-Service-Signature': 'a'.repeat(64), 'X-Service-Signature-Previous': FIRST.signature }),
    'accepted',
  ],
  [
    'with only the previous signature',
    { headers: { 'X-Service-Timestamp': FIRST.timestamp, 'X-Service-Signature-Previous': FIRST.signature } },
    'missing_header',
  ],
  [
    'with two wrong signatures',
    withHeaders({ 'X-Service-Signature': 'a'.repeat(64), 'X-Service-Signature-Previous': 'b'.repeat(64) }),
    'bad_signature',
  ],
  ['with another header prefix than expected', { headerPrefix: 'Acme-' }, 'missing_header'],
  [
    'with the expected header prefix',
    { headerPrefix: 'Acme-', headers: { 'acme-timestamp': FIRST.timestamp, 'ACME-SIGNATURE': FIRST.signature } },
    'accepted',
  ],
  ['with a Headers object', { headers: new Headers(headersOf(FIRST)) }, 'accepted'],
  ['with an empty Headers object', { headers: new Headers() }, 'missing_header'],
  ['with a body that was parsed', { body: JSON.parse(FIRST.body) }, 'bad_body'],
  ['without a body', { body: null as never }, 'bad_body'],
  ['signed, but no JSON', signed('{'), 'bad_body'],
  ['signed, but null', signed('null'), 'bad_body'],
  ['signed, but no event', signed('{"id":1,"type":"x"}'), 'bad_body'],
];

for (const [what, delivery, code] of CASES) {
  test(`a delivery ${what}: ${code}`, async () => {
    assert.deepEqual(await codesOf(delivery), [code, code]);
  });
}

test('no error contains a secret or an expected signature', async () => {
  for (const [, delivery] of CASES) {
    for (const verify of VERIFICATIONS) {
      const error = await verify({ ...deliveryOf(FIRST), ...delivery }).then(
        () => null,
        (thrown) => thrown,
      );
      const text = JSON.stringify({ message: error?.message, ...error });
      assert.ok(!text.includes(FIRST.secret.slice(6)) && !text.includes(FIRST.signature), text);
    }
  }
});

test('any single changed bit of body, timestamp or signature is refused', async () => {
  const random = randomFrom(256);
  const flip = (text: string) => {
    const bytes = Buffer.from(text, 'latin1');
    bytes[random.integer(bytes.length)]! ^= 1 << random.integer(7);
    return bytes.toString('latin1');
  };
  for (let i = 0; i < 2_000; i++) {
    const changed = [
      { body: flip(FIRST.body) },
      withHeaders({ 'X-Service-Timestamp': flip(FIRST.timestamp) }),
      withHeaders({ 'X-Service-Signature': flip(FIRST.signature) }),
    ][i % 3]!;

    assert.equal((await codesOf(changed)).includes('accepted'), false);
  }
});

test('a delivery for tests verifies by both schemes, and by both ways of receiving', async () => {
  const event = { id: 'evt_1', type: 'webhook.test', data: { text: 'Grüße' } };
  const { headers, body } = signTestDelivery({ secret: FIRST.secret, event, headerPrefix: 'Acme-' });
  const delivery = { secret: FIRST.secret, headers, body, headerPrefix: 'Acme-' };

  assert.deepEqual(await verifyDeliveryAsync(delivery), event);
  assert.deepEqual(verifyDelivery(delivery), event);
  assert.deepEqual(new StandardWebhook(FIRST.secret).verify(body, headers), event);
  assert.throws(() => signTestDelivery({ secret: 'short', event }), WebhookVerificationError);
});

test('signatures are compared in constant time', () => {
  for (const [file, comparing] of [
    ['signature.ts', /timingSafeEqual\(given, expected\)/],
    ['web-signature.ts', /await isHmacSha256\(given, /],
  ] as const) {
    const source = readFileSync(new URL(file, import.meta.url), 'utf8');
    const comparison = source.slice(source.indexOf('function isSignedByAny')).split('\n}\n', 1)[0]!;

    assert.match(comparison, comparing);
    assert.doesNotMatch(comparison, /break|return true|(given|expected|signature) ?[!=]==? /);
  }
});
