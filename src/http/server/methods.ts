import type { Route } from '../route.ts';

/** The methods of a path, for `Allow`; empty for an unknown path. @param url  path, with or without a query */
export function methodsAt(routes: Route[], url: string): string[] {
  const path = pathOf(url);
  const segments = path.split('/');
  const matching = routes.filter((route) => url === '*' || matches(route.path.split('/'), segments));
  // As in the router, a path goes before a pattern that it matches too.
  const exact = matching.filter((route) => route.path === path);
  const methods = (exact.length > 0 ? exact : matching).map((route) => route.method);
  if (methods.length === 0) return [];
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])];
}

function matches(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => (part.startsWith(':') ? segments[i] !== '' : part === segments[i]))
  );
}

/** The path of a request as the router reads it: decoded, without the query. */
export function pathOf(url: string): string {
  const path = url.split(/[?#]/)[0]!;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
