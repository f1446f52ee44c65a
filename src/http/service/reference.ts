import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';
import { ApiError } from '../api-error.ts';
import type { Answer, Route } from '../route.ts';
import { writeErrorsPage } from './errors-page.ts';
import { frameAncestors } from './frame-ancestors.ts';
import { REFERENCE_PAGE, readPage, writeIndex } from './pages.ts';
import { writeReference } from './reference-markdown.ts';

// No inline code, no other origins, no strings as code: Swagger UI needs no exceptions.
const policyFor = (origins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    frameAncestors(origins),
  ].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Verbatim API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<noscript><a href="/docs/api.md">This API as Markdown</a></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const FILES: Record<string, () => { body: string; contentType: string }> = {
  'swagger-ui.css': () => ({ body: packageFile('swagger-ui.css'), contentType: 'text/css; charset=utf-8' }),
  'swagger-ui-bundle.js': () => ({ body: packageFile('swagger-ui-bundle.js'), contentType: JAVASCRIPT }),
  'errors.css': () => ({ body: ownFile('errors-page.css'), contentType: 'text/css; charset=utf-8' }),
  'start.js': () => ({ body: ownFile('reference-start.js'), contentType: JAVASCRIPT }),
};
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/**
 * The API reference at /docs: Swagger UI for /openapi.json, served without other hosts, with "try it out". The pages of
 * docs/ and the reference as Markdown, and /llms.txt that lists them.
 * @param framedBy  origins whose pages may show the reference in a frame: the console in it has a link to the reference
 */
export function referenceRoutes(describe: () => Record<string, unknown>, framedBy: readonly string[]): Route[] {
  const policy = policyFor(framedBy);
  return [
    referenceRoute('/llms.txt', 'The pages of the documentation', async () => ({
      status: 200,
      body: writeIndex(),
      contentType: 'text/plain; charset=utf-8',
      headers: { 'cache-control': 'no-cache' },
    })),
    referenceRoute('/docs', 'This API as a page to read and try', async () => ({
      status: 200,
      body: PAGE,
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' },
    })),
    referenceRoute('/docs/errors', 'What each error means', async () => ({
      status: 200,
      body: writeErrorsPage(),
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' },
    })),
    referenceRoute('/docs/:file', 'A file of the API reference', async ({ params }) =>
      params.file.endsWith('.md') ? answerPage(params.file, describe) : answerFile(params.file),
    ),
  ];
}

function referenceRoute(path: string, summary: string, handle: Route['handle']): Route {
  return { method: 'GET', path, auth: 'none', summary, tag: 'Service', schema: { answers: {} }, handle };
}

function answerFile(name: string): Answer {
  if (!Object.hasOwn(FILES, name)) throw new ApiError('not_found', 'The API reference has no such file.');
  return { status: 200, ...FILES[name]!(), headers: { 'cache-control': 'public, max-age=3600' } };
}

function answerPage(name: string, describe: () => Record<string, unknown>): Answer {
  const body = name === REFERENCE_PAGE ? writeReference(describe()) : readPage(name);
  if (body === null) throw new ApiError('not_found', 'There is no such page; /llms.txt lists them.');
  return { status: 200, body, contentType: 'text/markdown; charset=utf-8', headers: { 'cache-control': 'no-cache' } };
}

function ownFile(name: string): string {
  return readFileSync(path.join(ROOT, 'src/http/service', name), 'utf8');
}

/** Read at each request: browsers cache the file, and the process saves 1.7 MB. */
function packageFile(name: string): string {
  const require = createRequire(import.meta.url);
  return readFileSync(require.resolve(`swagger-ui-dist/${name}`), 'utf8');
}
