/**
 * The part of a Content-Security-Policy that says which pages may show this one in a frame: `frame-ancestors 'none'`.
 * @param origins  such as https://intranet.example.com; empty: no page
 */
export function frameAncestors(origins: readonly string[]): string {
  return `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`;
}
