import { cleanFilename } from '../../audio/filename.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { Resolver } from '../../egress/dns/resolve.ts';
import { permittedTarget, resolveUrl } from '../../egress/url-check.ts';
import { ApiError } from '../../http/api-error.ts';
import { parseAudioUrl } from '../../rules/network/url-guard.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';

/** Audio that the service fetches; both are secrets. */
export type AudioUrl = { url: string; headers: Record<string, string> };

/** Audio to fetch, as a job stores it. */
export type RemoteAudio = {
  kind: 'remote';
  /** What is shown of the URL: origin and path. */
  source: string;
  /** From the path. */
  filename: string | null;
  /** URL and headers encrypted for the database, for this job only. */
  sealFor(jobId: string): Buffer;
};

const URL_FIELD = 'audio_url';
const HEADERS_FIELD = 'audio_url_headers';
const MAX_HEADERS = 10;
const MAX_HEADERS_BYTES = 4096;

/** The largest size of each field in bytes of UTF-8. A URL may have 4,096 characters. */
export const AUDIO_URL_FIELD_BYTES = { [URL_FIELD]: 16_384, [HEADERS_FIELD]: MAX_HEADERS_BYTES } as const;

// HTTP or the fetch itself sets these, or a client could use them to confuse a server about where the request ends.
const REFUSED_HEADERS = new Set([
  ...['host', 'content-length', 'connection', 'transfer-encoding', 'range', 'accept-encoding', 'cookie', 'te'],
  ...['trailer', 'upgrade', 'keep-alive', 'expect', 'proxy-authorization', 'proxy-connection', 'content-encoding'],
]);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * The fields `audio_url` and `audio_url_headers`; null when there is none. The URL is not yet evaluated.
 * @throws ApiError  400
 */
export function readAudioUrl(fields: ReadonlyMap<string, string>): AudioUrl | null {
  const url = fields.get(URL_FIELD);
  const headers = fields.get(HEADERS_FIELD);
  if (url === undefined && headers === undefined) return null;
  if (url === undefined) throw invalidHeaders(`${HEADERS_FIELD} needs ${URL_FIELD}.`);
  return { url, headers: headers === undefined ? {} : readHeaders(headers) };
}

function readHeaders(text: string): Record<string, string> {
  const entries = Object.entries(parseObject(text));
  if (entries.length > MAX_HEADERS) throw invalidHeaders(`${HEADERS_FIELD} may hold at most ${MAX_HEADERS} headers.`);
  const headers = new Map<string, string>();
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (!HEADER_NAME.test(name)) throw invalidHeaders(`${HEADERS_FIELD} holds a name that is not one of a header.`);
    if (REFUSED_HEADERS.has(key)) throw invalidHeaders(`${HEADERS_FIELD} must not hold ${name}.`);
    if (headers.has(key)) throw invalidHeaders(`${HEADERS_FIELD} holds ${name} twice.`);
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw invalidHeaders(`The value of ${name} in ${HEADERS_FIELD} must be a string of printable ASCII characters.`);
    }
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the cause: its message quotes the text.
    throw invalidHeaders(`${HEADERS_FIELD} must be JSON, such as {"Authorization": "Bearer …"}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidHeaders(`${HEADERS_FIELD} must be a JSON object, such as {"Authorization": "Bearer …"}.`);
}

function invalidHeaders(message: string): ApiError {
  return new ApiError('invalid_request', message, { param: HEADERS_FIELD });
}

/** URL and headers of a fetch. @throws Error  when no key of SECRETS_KEY opens it */
export function openAudioUrl(box: Pick<SecretBox, 'open'>, jobId: string, sealed: Buffer): AudioUrl {
  return JSON.parse(box.open(jobId, sealed)) as AudioUrl;
}

export type AudioUrlGuard = {
  /**
   * Evaluates a URL and what its name resolves to now.
   * @throws ApiError  400 forbidden_url; 400 while AUDIO_URL is off
   */
  permit(given: AudioUrl, accountId: string): Promise<RemoteAudio>;
};

type GuardRuntime = Runtime & { secretBox: Pick<SecretBox, 'seal'>; lookup?: Lookup };

/** Evaluates URLs when they are accepted, by the rules of contract section 6.1. */
export function openAudioUrlGuard({ config, clock, secretBox, lookup }: GuardRuntime): AudioUrlGuard {
  const allowedTargets = config.audioUrlAllowedTargets;
  const resolver = new Resolver(lookup);
  return {
    async permit({ url, headers }, accountId) {
      if (config.audioUrl === 'off') {
        const message = `${URL_FIELD} is switched off on this server. Send the audio as a file.`;
        throw new ApiError('invalid_request', message, { param: URL_FIELD });
      }
      const target = permittedTarget(parseAudioUrl(url, allowedTargets), URL_FIELD);
      const href = await resolveUrl(target, { param: URL_FIELD, accountId, allowedTargets, resolver, clock });
      const sealFor = (jobId: string) =>
        secretBox.seal(jobId, JSON.stringify({ url: href, headers } satisfies AudioUrl));
      return { kind: 'remote', ...shownParts(href), sealFor };
    },
  };
}

function shownParts(href: string): Pick<RemoteAudio, 'source' | 'filename'> {
  const { origin, pathname } = new URL(href);
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return { source: origin + pathname, filename: cleanFilename(decoded(last)) };
}

function decoded(segment: string): string {
  try {
    // A slash or a backslash would make a folder of a part of the name.
    return decodeURIComponent(segment).replace(/[/\\]/g, '_');
  } catch {
    return segment;
  }
}
