import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../platform/installation.ts';
import { RawJson, writeJson } from '../../platform/json.ts';
import { readOnce } from '../../platform/read-at-most-every.ts';
import { ApiError } from '../api-error.ts';
import { REFERENCE_NAME } from '../docs/contents.ts';
import { readSiteStyles } from '../docs/styles.ts';
import type { Answer, Route } from '../route.ts';
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

const REFERENCE = `<div id="reference"></div>
<noscript><a href="/docs/api.md">This API as Markdown</a></noscript>`;
const REFERENCE_HEAD = `
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/reference.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>`;

const FILES: Record<string, () => { body: string; contentType: string }> = {
  'swagger-ui.css': () => ({ body: packageFile('swagger-ui-dist/swagger-ui.css'), contentType: CSS }),
  'swagger-ui-bundle.js': () => ({
    body: packageFile('swagger-ui-dist/swagger-ui-bundle.js'),
    contentType: JAVASCRIPT,
  }),
  'reference.css': () => ({ body: ownFile('service/reference.css'), contentType: CSS }),
  'start.js': () => ({ body: ownFile('service/reference-start.js'), contentType: JAVASCRIPT }),
  'site.css': () => ({ body: readSiteStyles(), contentType: CSS }),
  'search.js': () => ({ body: ownFile('docs/search.js'), contentType: JAVASCRIPT }),
  'minisearch.js': () => ({ body: packageFile('minisearch'), contentType: JAVASCRIPT }),
};
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

type ReferenceOptions = {
  /** The document of the API. */
  describe: () => Record<string, unknown>;
  version: string;
  /** Origins whose pages may show these in a frame: the console in it has a link to the reference. */
  framedBy: readonly string[];
};

/**
 * The documentation at /docs/: the pages of docs/ as a site, and as Markdown with /llms.txt that lists them. Among them
 * the API reference, at /docs too: Swagger UI for /openapi.json, served without other hosts, with "try it out".
 */
export function referenceRoutes({ describe, version, framedBy }: ReferenceOptions): Route[] {
  // Made at the first request: marked and the languages take 30 ms to load, and the pages some memory.
  const site = readOnce(async () => {
    const { DocsSite } = await import('../docs/site.ts');
    return new DocsSite({ base: '/docs', version, inService: true });
  });
  let searchFile: RawJson | undefined;
  const answerHtml = (body: string | null): Answer => {
    if (body === null) throw new ApiError('not_found', 'There is no such page; /docs/ lists them.');
    const headers = {
      'content-security-policy': policyFor(framedBy),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    };
    return { status: 200, body, contentType: 'text/html; charset=utf-8', headers };
  };
  const answerReference = async () => answerHtml((await site()).referencePage(REFERENCE, REFERENCE_HEAD));
  return [
    referenceRoute('/llms.txt', 'The pages of the documentation', async () => ({
      status: 200,
      body: writeIndex(),
      contentType: 'text/plain; charset=utf-8',
      headers: { 'cache-control': 'no-cache' },
    })),
    referenceRoute('/docs', 'This API as a page to read and try', answerReference),
    referenceRoute('/docs/', 'The documentation', async () => answerHtml(await (await site()).page(''))),
    referenceRoute('/docs/search.json', 'The sections of the documentation, for its search', async () => ({
      status: 200,
      body: (searchFile ??= new RawJson(writeJson(await (await site()).searchFile()))),
      headers: { 'cache-control': 'public, max-age=3600' },
    })),
    referenceRoute(
      '/docs/:file',
      'A page of the documentation, or a file of its pages',
      async ({ params: { file } }) => {
        if (file.endsWith('.md')) return answerMarkdown(file, describe);
        if (file === REFERENCE_NAME) return await answerReference();
        return Object.hasOwn(FILES, file) ? answerFile(file) : answerHtml(await (await site()).page(file));
      },
    ),
    referenceRoute('/docs/decisions/:file', 'A decision about the design', async ({ params }) =>
      answerHtml(await (await site()).page(`decisions/${params.file}`)),
    ),
    referenceRoute('/docs/images/:file', 'An image of the documentation', async ({ params }) =>
      answerImage((await import('../docs/site.ts')).readImage(params.file)),
    ),
  ];
}

function referenceRoute(path: string, summary: string, handle: Route['handle']): Route {
  return { method: 'GET', path, auth: 'none', summary, tag: 'Service', schema: { answers: {} }, handle };
}

function answerFile(name: string): Answer {
  return { status: 200, ...FILES[name]!(), headers: { 'cache-control': 'public, max-age=3600' } };
}

function answerImage(image: Buffer | null): Answer {
  if (image === null) throw new ApiError('not_found', 'The documentation has no such image.');
  const headers = { 'cache-control': 'public, max-age=3600', 'content-length': String(image.length) };
  return { status: 200, stream: Readable.from([image]), contentType: 'image/webp', headers };
}

function answerMarkdown(name: string, describe: () => Record<string, unknown>): Answer {
  const body = name === REFERENCE_PAGE ? writeReference(describe()) : readPage(name);
  if (body === null) throw new ApiError('not_found', 'There is no such page; /llms.txt lists them.');
  return { status: 200, body, contentType: 'text/markdown; charset=utf-8', headers: { 'cache-control': 'no-cache' } };
}

function ownFile(name: string): string {
  return readFileSync(path.join(ROOT, 'src/http', name), 'utf8');
}

/** Read at each request: browsers cache the file, and the process saves 1.7 MB. */
function packageFile(name: string): string {
  return readFileSync(fileURLToPath(import.meta.resolve(name)), 'utf8');
}
