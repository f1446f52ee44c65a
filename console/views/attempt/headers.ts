/** Whose a request header is: of the service, of the webhook's own headers, or of HTTP. */
export type HeaderOwner = 'service' | 'own' | 'http';

const STANDARD_WEBHOOKS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const NEW_AT_EACH_ATTEMPT = ['delivery-id', 'attempt', 'timestamp', 'signature', 'signature-previous'];

/**
 * @param ownNames  of the webhook, in any case
 * @param headerPrefix  X-Service- by default
 */
export function ownerOfHeader(name: string, ownNames: readonly string[], headerPrefix: string): HeaderOwner {
  const lower = name.toLowerCase();
  if (lower.startsWith(headerPrefix.toLowerCase()) || STANDARD_WEBHOOKS.includes(lower)) return 'service';
  return ownNames.some((own) => own.toLowerCase() === lower) ? 'own' : 'http';
}

/** Whether the service gives the header another value at each attempt. */
export function isNewAtEachAttempt(name: string, headerPrefix: string): boolean {
  const lower = name.toLowerCase();
  if (STANDARD_WEBHOOKS.includes(lower)) return lower !== 'webhook-id';
  const prefix = headerPrefix.toLowerCase();
  return lower.startsWith(prefix) && NEW_AT_EACH_ATTEMPT.includes(lower.slice(prefix.length));
}
