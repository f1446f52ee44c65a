import { isIP } from 'node:net';
import { type AllowedTarget, isInAllowedTarget, isPublicAddress } from './address.ts';

export type { AllowedTarget } from './address.ts';

/** Where a URL of a client points, read once: `href` is what is stored and sent to, never the text that came in. */
export type UrlTarget = {
  href: string;
  /** Lower case, without brackets or trailing dot: an address or a name. */
  hostname: string;
  port: number;
  /** False for http, which only some URLs may have. */
  isTls: boolean;
  /** The address, when the host is one; null for a name. */
  literal: string | null;
  /** A name that means something only inside a network: it may lead to allowed targets alone. */
  isLocalName: boolean;
};

export type UrlVerdict = { kind: 'ok'; target: UrlTarget } | { kind: 'refused'; message: string };
type AddressVerdict = { kind: 'ok' } | { kind: 'refused'; message: string };

export const MAX_URL_CHARS = 2048;
/** Signed URLs of object stores carry session tokens of 1 to 2 KB. */
const MAX_AUDIO_URL_CHARS = 4096;
const MAX_NAME_CHARS = 253;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

// Characters that URL parsers drop, trim or convert in different ways.
const AMBIGUOUS = /[\p{Cc}\p{Cf}\p{Z}\\]/u;
const LABEL = /^[a-z0-9_-]{1,63}$/;

// As the URL parser writes them: 127.1 is 127.0.0.1.
const LOOPBACK = /^(localhost|[a-z0-9.-]*\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)$/;
const LOCAL_SUFFIXES =
  'localhost localdomain local internal intranet lan home corp private home.arpa onion i2p invalid'.split(' ');
const METADATA_NAMES = new Set([
  'metadata.goog',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'api.metadata.cloud.ibm.com',
]);

/**
 * Whether the text of a URL is allowed for a webhook: https, port 443, no credentials, no literal address that is not
 * public, no local name. Called at creation, at every change and at each attempt; the `href` of an accepted URL is
 * accepted again. A fragment is dropped. The addresses behind a name are for `evaluateAddresses`.
 * @param allowed  what the operator opened; it lifts the address rules, and the port rule for the ports it names
 */
export function parseWebhookUrl(raw: unknown, allowed: readonly AllowedTarget[]): UrlVerdict {
  return parseUrl(raw, { allowed, maxChars: MAX_URL_CHARS, schemes: HTTPS_ONLY });
}

/**
 * Whether the text of a URL is allowed for audio that is fetched: as for a webhook, and http where the operator opened
 * its port; only an address that the operator opened is then connected to.
 */
export function parseAudioUrl(raw: unknown, allowed: readonly AllowedTarget[]): UrlVerdict {
  return parseUrl(raw, {
    allowed,
    maxChars: MAX_AUDIO_URL_CHARS,
    schemes: allowed.length > 0 ? WITH_HTTP : HTTPS_ONLY,
  });
}

type UrlRules = { allowed: readonly AllowedTarget[]; maxChars: number; schemes: RegExp };

// The scheme and what is before the host.
const HTTPS_ONLY = /^https:\/\//i;
const WITH_HTTP = /^https?:\/\//i;

function parseUrl(raw: unknown, { allowed, maxChars, schemes }: UrlRules): UrlVerdict {
  const tooLong = `The url must be at most ${maxChars} characters long, as it is sent.`;
  if (typeof raw === 'string' && raw.length > maxChars) return refuse(tooLong);
  const fault = faultOfText(raw, schemes);
  if (fault !== null) return refuse(fault);
  const url = readUrl(raw as string);
  if (url === null) return refuse('The url is not a valid URL.');
  const target = describeTarget(url);
  if (target === null) return refuse('The url must have a host name of letters, digits, dashes and dots.');
  if (target.href.length > maxChars) return refuse(tooLong);
  const isUsual = target.isTls && target.port === HTTPS_PORT;
  if (!isUsual && !allowed.some((entry) => entry.port === target.port)) {
    return refuse(target.isTls ? 'The url must use port 443.' : BEGINS_WITH_HTTPS);
  }
  if (target.isLocalName && allowed.length === 0) return refuse(LOCAL_NAME);
  if (target.literal === null) return { kind: 'ok', target };
  const verdict = evaluateAddresses({ target, addresses: [target.literal], allowed });
  return verdict.kind === 'ok' ? { kind: 'ok', target } : verdict;
}

/**
 * Whether a target may be connected to, by all the addresses that its name resolves to now. One forbidden address
 * refuses the target: a public receiver has no private address, so such an answer is an attack or a mistake.
 * The message does not name the address: it would reveal the internal network.
 */
export function evaluateAddresses(asked: {
  target: UrlTarget;
  addresses: readonly string[];
  allowed: readonly AllowedTarget[];
}): AddressVerdict {
  const { target, addresses, allowed } = asked;
  const isAllowed = (ip: string) => isInAllowedTarget(ip, target.port, allowed);
  // A local name needs an exception, and only an address shows one.
  if (target.isLocalName && !(addresses.length > 0 && addresses.every(isAllowed))) return refuse(LOCAL_NAME);
  if (addresses.length === 0) return refuse('The host of the url has no address.');
  const isUsual = target.isTls && target.port === HTTPS_PORT;
  const isGood = (ip: string) => (isUsual && isPublicAddress(ip)) || isAllowed(ip);
  return addresses.every(isGood) ? { kind: 'ok' } : refuse(NOT_PUBLIC);
}

const BEGINS_WITH_HTTPS = 'The url must begin with https://.';
const LOCAL_NAME = 'The url must not point to localhost or to another name that is only known inside a network.';
const NOT_PUBLIC =
  'The url must point to public addresses only: not to private, loopback, link-local, reserved or cloud metadata ones.';

/** What is wrong with the text before it is parsed; null when nothing is. */
function faultOfText(raw: unknown, schemes: RegExp): string | null {
  if (typeof raw !== 'string') return 'The url must be a string.';
  const scheme = schemes.exec(raw)?.[0];
  if (scheme === undefined) return BEGINS_WITH_HTTPS;
  if (!raw.isWellFormed() || AMBIGUOUS.test(raw)) {
    return 'The url must not hold spaces, backslashes, control or invisible characters; percent-encode them.';
  }
  const authority = raw.slice(scheme.length).split(/[/?#]/, 1)[0]!;
  if (authority === '') return 'The url must name a host.';
  if (authority.includes('@')) return 'The url must not hold credentials (a user name or password before the host).';
  return null;
}

function readUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.hash = '';
  // A trailing dot names the same host, but certificates and lists of names omit it.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const isHttp = /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  // The stored text is parsed again at each attempt: it must give the same URL.
  return isHttp && URL.canParse(url.href) && new URL(url.href).href === url.href ? url : null;
}

/** Null when the host is neither an address nor a name that DNS can hold. */
function describeTarget(url: URL): UrlTarget | null {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const literal = isIP(hostname) === 0 ? null : hostname;
  const labels = hostname.split('.');
  if (literal === null && (hostname.length > MAX_NAME_CHARS || !labels.every((label) => LABEL.test(label))))
    return null;
  const isTls = url.protocol === 'https:';
  return {
    href: url.href,
    hostname,
    port: url.port === '' ? (isTls ? HTTPS_PORT : HTTP_PORT) : Number(url.port),
    isTls,
    literal,
    isLocalName: literal === null && isLocalName(hostname),
  };
}

/** The host, with its port, of an http or https URL that leads to the machine itself; null for all else. */
export function loopbackHost(raw: unknown): string | null {
  if (typeof raw !== 'string' || raw.length > MAX_URL_CHARS || !URL.canParse(raw)) return null;
  const { protocol, hostname, host } = new URL(raw);
  const isHttp = protocol === 'http:' || protocol === 'https:';
  return isHttp && LOOPBACK.test(hostname) ? host : null;
}

/** Whether a name means something only inside a network: it has one label, or ends in a suffix for local use. */
export function isLocalName(hostname: string): boolean {
  if (!hostname.includes('.') || METADATA_NAMES.has(hostname)) return true;
  return LOCAL_SUFFIXES.some((suffix) => `.${hostname}`.endsWith(`.${suffix}`));
}

function refuse(message: string): { kind: 'refused'; message: string } {
  return { kind: 'refused', message };
}
