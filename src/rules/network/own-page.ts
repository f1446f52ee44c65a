/** What a browser says of the page that sends a request: the headers of these names, undefined where absent. */
export type PageHeaders = {
  /** Sec-Fetch-Site, which browsers send to HTTPS and to the own machine. */
  site: string | undefined;
  origin: string | undefined;
  host: string | undefined;
};

const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Whether a request with the cookie of a session comes from a page of the service itself. Browsers send the cookie with
 * requests of other origins of the same site too, such as another port. For a safe method it is enough that nothing
 * speaks against it; every other needs a proof.
 */
export function isFromOwnPage(method: string, { site, origin, host }: PageHeaders): boolean {
  // `none`: the user typed the address.
  if (SAFE_METHODS.includes(method)) return site === undefined || site === 'same-origin' || site === 'none';
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && host !== undefined && hostOf(origin) === host.toLowerCase();
}

/** The host and port of an origin; null for `null`. */
function hostOf(origin: string): string | null {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase() ?? null;
}
