import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { ApiError } from '../api-error.ts';
import type { Answer, Route } from '../route.ts';

type Asset = { body: string; contentType: string };
type Console = { assets: Map<string, Asset>; version: string; page: string };

const FOLDER = new URL('../../../console/', import.meta.url);
const TYPES = new Map([
  ['ts', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml; charset=utf-8'],
]);
// No inline code, no other origins, and no conversion of strings to markup: text of other people is never executed.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const CACHE_FOREVER = 'public, max-age=31536000, immutable';

/**
 * The console: a page at `/` and its files. TypeScript is served with its types stripped and with the same file names, so
 * that the imports between the files work in the browser. The folder's name in the URL is the hash of all files, so that
 * browsers cache a version for ever.
 */
export function consoleRoutes(): Route[] {
  let read: Console | undefined;
  // Read at the first request: stripping the types takes 100 ms.
  const console = () => (read ??= readConsole());
  const send = async ({ params }: { params: Record<string, string> }) =>
    answerAsset(console(), params as { version: string; file: string });
  const sendView = async ({ params }: { params: Record<string, string> }) =>
    answerAsset(console(), { version: params['version']!, file: `views/${params['file']}` });
  return [
    consoleRoute('/', 'The console', async () => ({
      status: 200,
      body: console().page,
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' },
    })),
    consoleRoute('/console/:version/:file', 'A file of the console', send),
    consoleRoute('/console/:version/views/:file', 'A view of the console', sendView),
  ];
}

function consoleRoute(path: string, summary: string, handle: Route['handle']): Route {
  return { method: 'GET', path, auth: 'none', summary, tag: 'Console', schema: { answers: {} }, handle };
}

/** During an upgrade a page may request files of another version: it gets those of this version, which are not cached. */
function answerAsset({ assets, version }: Console, wanted: { version: string; file: string }): Answer {
  const asset = assets.get(wanted.file);
  if (!asset) throw new ApiError('not_found', 'The console has no such file; load / again.');
  const cacheControl = wanted.version === version ? CACHE_FOREVER : 'no-store';
  return { status: 200, ...asset, headers: { 'cache-control': cacheControl } };
}

function readConsole(): Console {
  const assets = readAssets();
  const version = versionOf(assets);
  return {
    assets,
    version,
    page: readFileSync(new URL('index.html', FOLDER), 'utf8').replaceAll('{version}', version),
  };
}

/** The console's files as they are sent, by path below console/. */
function readAssets(): Map<string, Asset> {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  const assets = new Map<string, Asset>();
  for (const name of names.sort()) {
    const contentType = TYPES.get(name.split('.').at(-1)!);
    if (!contentType) continue;
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    assets.set(name, { body: name.endsWith('.ts') ? stripTypes(text) : text, contentType });
  }
  return assets;
}

function versionOf(assets: Map<string, Asset>): string {
  const hash = createHash('sha256');
  for (const [name, { body }] of assets) hash.update(`${name}\0${body}\0`);
  return hash.digest('hex').slice(0, 12);
}

/** Suppresses Node's warning that the function is experimental: Node's version is pinned. */
function stripTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}
