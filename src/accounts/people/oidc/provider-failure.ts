import { codeOf } from '../../../egress/transport-error.ts';
import { reasonOfConnection } from '../../../rules/network/connection-failure.ts';

/** The issuer by which the provider calls itself, where it is not the one that was asked; else null. */
export function issuerOfMismatch(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { attribute, body } = Object(cause.cause) as { attribute?: unknown; body?: { issuer?: unknown } };
    if (attribute === 'issuer' && typeof body?.issuer === 'string') return body.issuer;
  }
  return null;
}

/** Why nobody can sign in by the provider, and what the operator does about it, as a sentence for the log. */
export function reasonOfProvider(error: unknown, issuer: string): string {
  const own = issuerOfMismatch(error);
  if (own !== null) return `OIDC_ISSUER is ${issuer}, and the provider calls itself ${own}: set OIDC_ISSUER=${own}`;
  return `OIDC_ISSUER ${issuer} ${causeOf(error)}`;
}

/** The same for whoever signs in: it names no address. */
export function reasonForUser(error: unknown): string {
  const cause =
    issuerOfMismatch(error) === null ? causeOf(error) : 'calls itself by another address than OIDC_ISSUER says';
  return `The OpenID provider ${cause}. Try again, or ask the operator.`;
}

const CAUSES: [RegExp, string][] = [
  [/RESPONSE_IS_NOT_CONFORM/, 'answers its discovery document with another status than 200: check the address'],
  [
    /RESPONSE_IS_NOT_JSON|PARSE_ERROR|INVALID_RESPONSE/,
    'has no discovery document of OpenID Connect: check the address',
  ],
];

function causeOf(error: unknown): string {
  const ofConnection = reasonOfConnection(error);
  if (ofConnection !== null) return ofConnection;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const found = CAUSES.find(([pattern]) => pattern.test(codeOf(cause)));
    if (found) return found[1];
  }
  return 'cannot be used';
}
