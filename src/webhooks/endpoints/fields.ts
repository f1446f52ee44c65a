import { ApiError } from '../../http/api-error.ts';
import { DOCUMENTED, nullable, oneOf, Type } from '../../http/schema.ts';
import { MAX_URL_CHARS } from '../../rules/network/url-guard.ts';
import { INCLUDED_PARTS } from '../../rules/webhooks/included-body.ts';
import { findHeaderProblem, MAX_OWN_HEADERS, type OwnHeaders } from '../../rules/webhooks/own-headers.ts';
import { sealHeaders } from '../secrets/own-headers.ts';
import type { SecretBox } from '../secrets/secrets.ts';
import type { StoredHeaders } from './store.ts';
import { eventTypeSchema } from './view.ts';

const MAX_DESCRIPTION_CHARS = 500;
const MAX_PER_SECOND = 1_000;

/** The URL of a new webhook, or a new one. */
export const urlField = Type.String({
  maxLength: MAX_URL_CHARS,
  description: 'https, port 443, a public address. Every spelling that a URL parser knows is accepted.',
  examples: ['https://hooks.example.com/verbatim'],
  [DOCUMENTED]: {
    maxLength: 2000,
    pattern:
      '^https://([a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\\.){1,4}[a-z]{2,10}(:443)?(/[A-Za-z0-9._~/-]*)?(\\?[A-Za-z0-9._~=&-]*)?$',
  },
});

export const eventsField = Type.Array(eventTypeSchema, {
  minItems: 1,
  maxItems: 100,
  description: 'Duplicates are folded.',
});

const HEADERS_MEANING = [
  `Custom headers of the deliveries: at most ${MAX_OWN_HEADERS}, 4 KiB together, printable ASCII, under names that neither`,
  'the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are',
  'shown.',
].join(' ');

/** Fields of a webhook that may be left out, when it is created and when it is changed. */
export const optionalFields = {
  description: Type.Optional(nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARS }))),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
      description: HEADERS_MEANING,
      examples: [{ Authorization: 'Bearer 8f14e45f' }],
      [DOCUMENTED]: {
        maxProperties: MAX_OWN_HEADERS,
        propertyNames: { pattern: '^(Authorization|X-[A-Z][a-z]{0,20})$' },
        additionalProperties: { type: 'string', pattern: '^[!-~]([ -~]{0,100}[!-~])?$' },
      },
    }),
  ),
  max_per_second: Type.Optional(
    nullable(
      Type.Integer({ minimum: 1, maximum: MAX_PER_SECOND }),
      'How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit.',
    ),
  ),
  include: Type.Optional(
    Type.Array(oneOf(INCLUDED_PARTS), {
      maxItems: 10,
      description:
        'The parts of a job that the deliveries have, both by default. [] leaves out both; duplicates are folded.',
    }),
  ),
};

/**
 * The headers of a request as they are stored; null removes all.
 * @param headerPrefix  of the service's own headers
 * @throws ApiError  400
 */
export function storedHeaders(
  webhookId: string,
  headers: OwnHeaders | null,
  { secretBox, headerPrefix }: { secretBox: SecretBox; headerPrefix: string },
): StoredHeaders {
  const problem = findHeaderProblem(headers ?? {}, headerPrefix);
  if (problem) throw new ApiError('invalid_request', `headers ${problem}.`, { param: 'headers' });
  const names = Object.keys(headers ?? {});
  return { names, sealed: names.length === 0 ? null : sealHeaders(secretBox, webhookId, headers!) };
}
