import {
  explainSignature,
  type SignatureExplanation,
  type SignatureQuestion,
} from '#sdk/webhooks/explain/explain-signature.ts';
import { FRAMEWORKS, type Framework } from '#sdk/webhooks/explain/frameworks.ts';
import { headerValues } from '#sdk/webhooks/explain/read-headers.ts';
import type { KnownSecret } from '#sdk/webhooks/explain/search.ts';
import { SIGNATURE_FIXES, type SignatureVerdict } from '#sdk/webhooks/explain/verdicts.ts';
import type { Account } from '../../accounts/account.ts';
import type { Database } from '../../db/database.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, DOCUMENTED, nullable, oneOf, Type } from '../../http/schema.ts';
import { readTime, timeParameter } from '../../http/time-parameter.ts';
import { isId } from '../../rules/ids.ts';
import { includedBody } from '../../rules/webhooks/included-body.ts';
import { ownerOf, webhookOr404 } from '../endpoints/own-webhook.ts';
import type { WebhookRow } from '../endpoints/store.ts';
import { findEvent } from '../events/log-store.ts';
import { listSealedOf } from '../secrets/sealed-store.ts';
import type { SecretBox, SecretsRuntime } from '../secrets/secrets.ts';
import { findLogged } from './log-store.ts';

const VERDICTS = Object.keys(SIGNATURE_FIXES) as SignatureVerdict[];
const FRAMEWORK_NAMES = Object.keys(FRAMEWORKS) as Framework[];

// Of all characters only U+0000 is refused, as in all bodies.
const textField = { type: 'string', [DOCUMENTED]: { pattern: '^[^\\u0000]*$' } };

const answerSchema = Type.Object(
  {
    verdict: oneOf(VERDICTS, { description: 'The first cause; genuine: the signature, body and time fit.' }),
    causes: Type.Array(oneOf(VERDICTS), { description: 'All causes, the one to look at first in front.' }),
    fix: Type.String({ description: 'What to do about the verdict, and how in the framework where that is known.' }),
    framework: nullable(
      oneOf(FRAMEWORK_NAMES),
      'As it was given, or as the headers of the delivery and its answer name it.',
    ),
    checks: Type.Array(
      Type.Object({
        name: oneOf(['headers', 'time', 'signature', 'body']),
        result: oneOf(['ok', 'wrong', 'unknown']),
        message: Type.String(),
        expected: Type.String({ description: 'What a delivery of the service has there.' }),
        found: nullable(Type.String(), 'What this one has there: a form, never a value.'),
      }),
    ),
    difference: nullable(
      Type.Object({
        at: Type.Integer({ minimum: 0, description: 'Position of the first byte that differs.' }),
        sent: Type.String({ description: 'Up to 20 bytes on each side of it; control characters as escapes.' }),
        received: Type.String(),
        sent_bytes: Type.Integer({ minimum: 0 }),
        received_bytes: Type.Integer({ minimum: 0 }),
        kind: oneOf([
          ...(['whitespace', 'bom', 'charset', 'reordered', 'escaped'] as const),
          ...(['number_precision', 'truncated', 'changed'] as const),
        ]),
      }),
      'Where the body differs from the one that was sent; null when it does not, or when that one is no longer kept.',
    ),
  },
  component('SignatureDiagnosis', {
    verdict: 'body_parsed',
    causes: ['body_parsed'],
    fix: SIGNATURE_FIXES.body_parsed,
    framework: null,
    checks: [
      {
        name: 'signature',
        result: 'wrong',
        message: 'It fits once this is undone: body_parsed.',
        expected: 'HMAC-SHA256 of the timestamp, a dot and the raw body, under the whole secret',
        found: 'body_parsed',
      },
    ],
    difference: {
      at: 5,
      sent: '{"id":"evt_01k',
      received: '{"id": "evt_01k',
      sent_bytes: 812,
      received_bytes: 861,
      kind: 'whitespace',
    },
  }),
);

/** POST /v1/webhooks/:id/diagnose. */
export function diagnose({ db, secretBox, config }: SecretsRuntime): Route {
  const headerPrefix = config.webhookHeaderPrefix;
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/diagnose',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Find out why a received delivery does not verify',
    description:
      'Give the headers and the body exactly as your server received them, before any parsing. The answer has neither a secret nor a signature. A request has at most 64 KiB.',
    tag: 'Webhooks',
    schema: {
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({
        headers: Type.Unsafe<Record<string, string | string[]>>({
          type: 'object',
          additionalProperties: { anyOf: [textField, { type: 'array', items: textField }] },
          [DOCUMENTED]: { propertyNames: { pattern: '^[!-9;-~]{1,100}$' } },
          examples: [{ 'X-Service-Signature': '5d414002', 'X-Service-Timestamp': '2026-11-21T09:30:00.250Z' }],
        }),
        body: Type.Unsafe<string>({ ...textField, examples: ['{"id": "evt_01kamz2f3q8r5t7v9wxyzabcde"}'] }),
        received_at: Type.Optional(
          timeParameter('By the clock of your server. Without it the age of the delivery is not checked.'),
        ),
        framework: Type.Optional(oneOf(FRAMEWORK_NAMES, { description: 'Of your server, for the fix.' })),
      }),
      answers: { 200: answerSchema },
    },
    async handle({ account, params, body: { headers, body, received_at, framework = null }, note }) {
      const webhook = await webhookOr404(db, account, params.id);
      const receivedAt = readTime('received_at', received_at)?.getTime() ?? null;
      const secret = await readSecrets(db, account, webhook.id, secretBox);
      const known = await readSent(db, account, webhook, { headers, headerPrefix });
      const explanation = explainSignature({ secret, headers, body, receivedAt, framework, headerPrefix, ...known });
      note({ webhook_id: webhook.id, verdict: explanation.verdict });
      return { status: 200, body: showExplanation(explanation) };
    },
  });
}

/**
 * The secrets of the account's webhooks, those of this webhook first. One that no key opens has signed nothing lately.
 */
async function readSecrets(db: Database, account: Account, webhookId: string, box: SecretBox): Promise<KnownSecret[]> {
  const rows = await listSealedOf(db, ownerOf(account), webhookId);
  const known = rows.flatMap(({ id, secret, previousSecret }) => [
    { secret: openOrNull(box, id, secret), of: id === webhookId ? 'this_webhook' : 'another_webhook' } as const,
    { secret: id === webhookId ? openOrNull(box, id, previousSecret) : null, of: 'previous' } as const,
  ]);
  const order = ['this_webhook', 'previous', 'another_webhook'];
  return known
    .filter((each): each is KnownSecret => each.secret !== null)
    .sort((left, right) => order.indexOf(left.of) - order.indexOf(right.of));
}

function openOrNull(box: SecretBox, webhookId: string, sealed: Buffer | null): string | null {
  try {
    return sealed && box.open(webhookId, sealed);
  } catch {
    return null;
  }
}

/**
 * What was sent and answered, by the ids in the headers:
 * of the attempt, or else of the event. Null where it is not kept.
 */
async function readSent(
  db: Database,
  account: Account,
  { id: webhookId, include }: WebhookRow,
  { headers, headerPrefix }: { headers: Record<string, string | string[]>; headerPrefix: string },
): Promise<Pick<SignatureQuestion, 'sent' | 'answer'>> {
  const { shard } = account;
  const [deliveryId = ''] = headerValues(headers, `${headerPrefix}Delivery-Id`);
  const entry = isId('dlv', deliveryId) ? await findLogged(db, { shard, webhookId }, deliveryId) : null;
  if (entry?.requestBody) {
    const sentHeaders =
      entry.requestHeaders === null ? null : (JSON.parse(entry.requestHeaders) as Record<string, string>);
    const { responseHeaders, completedAt } = entry;
    const isAnswered = responseHeaders !== null && completedAt !== null;
    const answer = isAnswered ? { headers: JSON.parse(responseHeaders), receivedAt: completedAt.getTime() } : null;
    return { sent: { headers: sentHeaders, body: entry.requestBody }, answer };
  }
  const [eventId = ''] = [`${headerPrefix}Event-Id`, 'webhook-id'].flatMap((name) => headerValues(headers, name));
  const event = isId('evt', eventId) ? await findEvent(db, { shard, accountId: account.id, id: eventId }) : null;
  return { sent: event && { headers: null, body: includedBody(event.body, include) } };
}

function showExplanation({ difference, ...explanation }: SignatureExplanation) {
  if (!difference) return { ...explanation, difference: null };
  const { sentBytes, receivedBytes, ...rest } = difference;
  return { ...explanation, difference: { ...rest, sent_bytes: sentBytes, received_bytes: receivedBytes } };
}
