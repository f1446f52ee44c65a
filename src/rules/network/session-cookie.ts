const NAME = 'verbatim_session';
// Browsers take a cookie with this prefix from HTTPS only, and from this host only:
// a sibling host cannot put its own there.
const SECURE_NAME = `__Host-${NAME}`;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The token of a session in the values of the header Cookie; null where there is none. */
export function readSessionToken(cookies: readonly string[]): string | null {
  const pairs = cookies.flatMap((value) => value.split(';')).map((pair) => pair.trim().split('='));
  const given = (name: string) => pairs.find(([each]) => each === name)?.[1];
  const token = given(SECURE_NAME) ?? given(NAME);
  return token !== undefined && TOKEN.test(token) ? token : null;
}

/**
 * The header Set-Cookie that begins a session in a browser.
 * @param token  256 bits in base64url
 * @param isHttps  whether the browser asked by HTTPS
 */
export function writeSessionCookie(token: string, options: { maxAgeSeconds: number; isHttps: boolean }): string {
  const { maxAgeSeconds, isHttps } = options;
  const name = isHttps ? SECURE_NAME : NAME;
  const secure = isHttps ? '; Secure' : '';
  return `${name}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The header Set-Cookie that ends the session in a browser. */
export function clearSessionCookie(isHttps: boolean): string {
  return writeSessionCookie('', { maxAgeSeconds: 0, isHttps });
}
