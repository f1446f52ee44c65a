import { type AllowedTarget, parseAudioUrl, type UrlTarget } from './url-guard.ts';

/** Where a redirect leads, or why it is not followed. */
export type RedirectVerdict =
  | { kind: 'follow'; target: UrlTarget }
  | { kind: 'refused'; reason: 'redirect' | 'forbidden_address'; message: string };

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Whether an answer with this status names another URL. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.includes(status);
}

/**
 * Evaluates a redirect during a fetch of audio. The new URL is subject to the same rules as the first one; its
 * addresses are for `evaluateAddresses`. A redirect from https to http is refused even where the operator allows http.
 * @param location  the value of the header Location, relative or absolute; undefined without one
 * @param visited   all URLs so far, the current one last
 */
export function evaluateRedirect(
  location: string | undefined,
  { visited, allowed }: { visited: readonly UrlTarget[]; allowed: readonly AllowedTarget[] },
): RedirectVerdict {
  const from = visited.at(-1)!;
  if (visited.length > MAX_REDIRECTS) return refuse(`The server redirects more than ${MAX_REDIRECTS} times.`);
  if (location === undefined || !URL.canParse(location, from.href)) {
    return refuse('The server redirects without naming a valid URL.');
  }
  const next = new URL(location, from.href);
  if (from.isTls && next.protocol === 'http:') return refuse('The server redirects from https to http.');
  const parsed = parseAudioUrl(next.href, allowed);
  if (parsed.kind === 'refused') {
    const message = `The server redirects to a URL that is not allowed. ${parsed.message}`;
    return { kind: 'refused', reason: 'forbidden_address', message };
  }
  if (visited.some(({ href }) => href === parsed.target.href)) return refuse('The server redirects in a circle.');
  return { kind: 'follow', target: parsed.target };
}

/** Whether two URLs have the same scheme, host and port: headers of the client go to the first URL's origin only. */
export function isSameOrigin(one: UrlTarget, other: UrlTarget): boolean {
  return one.hostname === other.hostname && one.port === other.port && one.isTls === other.isTls;
}

function refuse(message: string): RedirectVerdict {
  return { kind: 'refused', reason: 'redirect', message };
}
