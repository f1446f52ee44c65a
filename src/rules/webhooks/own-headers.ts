/** Headers that a webhook's owner has added to its deliveries: names as given, and values. */
export type OwnHeaders = Readonly<Record<string, string>>;

export const MAX_OWN_HEADERS = 10;
/** Of all names and values together. */
const MAX_OWN_HEADER_BYTES = 4 * 1024;

// RFC 9110: token.
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// Without space at the ends, which HTTP would take off.
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Names of HTTP itself (connection, framing, negotiation, proxies) and of the service, in lower case. */
const RESERVED = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'connection', 'date', 'expect', 'host'],
  ...['http2-settings', 'keep-alive', 'max-forwards', 'range', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['user-agent', 'via'],
]);
const RESERVED_PREFIXES = ['content-', 'if-', 'proxy-', 'webhook-'];

/**
 * Why the headers may not be sent with deliveries, as the rest of a sentence that begins with the field's name; null
 * when they may.
 * @param servicePrefix  of the service's own headers: X-Service-
 */
export function findHeaderProblem(headers: OwnHeaders, servicePrefix: string): string | null {
  const entries = Object.entries(headers);
  if (entries.length > MAX_OWN_HEADERS) return `may hold at most ${MAX_OWN_HEADERS} headers`;
  const sizeBytes = entries.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  if (sizeBytes > MAX_OWN_HEADER_BYTES) return `may have at most ${MAX_OWN_HEADER_BYTES} bytes (4 KiB) together`;
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 100));
    if (!NAME.test(name)) return `has a name that HTTP does not allow: ${shown}`;
    if (isReserved(lower, servicePrefix))
      return `may not set ${shown}, which the service or HTTP uses; take another name`;
    if (seen.has(lower)) return `has ${shown} twice: names are the same in upper and lower case`;
    if (!VALUE.test(value)) return `has a value that is not printable ASCII, or has space at an end: that of ${shown}`;
    seen.add(lower);
  }
  return null;
}

function isReserved(lowerName: string, servicePrefix: string): boolean {
  const prefixes = [...RESERVED_PREFIXES, servicePrefix.toLowerCase()];
  return RESERVED.has(lowerName) || prefixes.some((prefix) => lowerName.startsWith(prefix));
}

/** The headers without those that the service sets itself: an operator may have changed the prefix since. */
export function withoutServiceHeaders(headers: OwnHeaders, service: Readonly<Record<string, string>>): OwnHeaders {
  const entries = Object.entries(headers);
  if (entries.length === 0) return headers;
  const reserved = new Set(Object.keys(service).map((name) => name.toLowerCase()));
  return Object.fromEntries(entries.filter(([name]) => !reserved.has(name.toLowerCase())));
}

/** The headers with their values replaced, for the delivery log. */
export function redacted(headers: OwnHeaders): OwnHeaders {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]']));
}
