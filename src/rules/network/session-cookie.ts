const NAME = 'verbatim_session';
// Browsers take a cookie with this prefix from HTTPS only, and from this host only:
// a sibling host cannot put its own there.
const SECURE_PREFIX = '__Host-';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The token of a session in the values of the header Cookie; null where there is none. */
export function readSessionToken(cookies: readonly string[]): string | null {
  const token = readCookie(cookies, NAME)?.value;
  return token !== undefined && TOKEN.test(token) ? token : null;
}

/**
 * The header Set-Cookie that begins a session in a browser.
 * @param token  256 bits in base64url
 * @param isHttps  whether the browser asked by HTTPS
 */
export function writeSessionCookie(token: string, options: { maxAgeSeconds: number; isHttps: boolean }): string {
  return writeCookie(NAME, token, { ...options, sameSite: 'Strict' });
}

const STATE_NAME = 'verbatim_sign_in';
const STATE_VALUE = /^[A-Za-z0-9_.-]{1,3000}$/;

/**
 * What a sign-in by way of another site began with, in the values of the header Cookie; null where there is none.
 * `isHttps`: this host has set it by HTTPS.
 */
export function readSignInCookie(cookies: readonly string[]): { value: string; isHttps: boolean } | null {
  const cookie = readCookie(cookies, STATE_NAME);
  return cookie && STATE_VALUE.test(cookie.value) ? cookie : null;
}

/** The header Set-Cookie for it. Lax: the other site sends the browser back. An empty value ends the cookie. */
export function writeSignInCookie(value: string, options: { maxAgeSeconds: number; isHttps: boolean }): string {
  return writeCookie(STATE_NAME, value, { ...options, sameSite: 'Lax' });
}

const BROWSER_NAME = 'verbatim_browser';
const BROWSER_VALUE = /^[A-Za-z0-9_.-]{1,300}$/;

/** What says whom this browser has signed in before, in the values of the header Cookie; null where there is none. */
export function readBrowserCookie(cookies: readonly string[]): string | null {
  const value = readCookie(cookies, BROWSER_NAME)?.value;
  return value !== undefined && BROWSER_VALUE.test(value) ? value : null;
}

/** The header Set-Cookie for it. */
export function writeBrowserCookie(value: string, options: { maxAgeSeconds: number; isHttps: boolean }): string {
  return writeCookie(BROWSER_NAME, value, { ...options, sameSite: 'Strict' });
}

/** The header Set-Cookie that ends the session in a browser. */
export function clearSessionCookie(isHttps: boolean): string {
  return writeSessionCookie('', { maxAgeSeconds: 0, isHttps });
}

function readCookie(cookies: readonly string[], name: string): { value: string; isHttps: boolean } | null {
  const pairs = cookies.flatMap((value) => value.split(';')).map((pair) => pair.trim().split('='));
  const given = (wanted: string) => pairs.find(([each]) => each === wanted)?.[1];
  const [secure, plain] = [given(SECURE_PREFIX + name), given(name)];
  const value = secure ?? plain;
  return value === undefined ? null : { value, isHttps: secure !== undefined };
}

function writeCookie(
  name: string,
  value: string,
  { maxAgeSeconds, isHttps, sameSite }: { maxAgeSeconds: number; isHttps: boolean; sameSite: 'Strict' | 'Lax' },
): string {
  const [prefix, secure] = isHttps ? [SECURE_PREFIX, '; Secure'] : ['', ''];
  return `${prefix}${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}
