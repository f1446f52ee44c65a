import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import zlib from 'node:zlib';
import { buildServer } from '../../src/http/server/server.ts';
import { consoleRoutes } from '../../src/http/service/console.ts';
import { BEST_QUALITY, bundleConsole } from '../../src/http/service/console-bundle.ts';
import { openConsole } from '../../src/http/service/console-files.ts';
import { openLog } from '../../src/platform/log.ts';
import { httpMetrics, openMetrics } from '../../src/platform/metrics.ts';
import { codeOf, importsOf, readSources } from '../structure/sources.ts';

/** The page, its style, its icon and all scripts that a view imports before it is shown, as browsers get them. */
const FIRST_VIEW_BYTES = 120 * 1024;
// In bytes as gzip makes them.
const VIEW_BYTES = 36_600;
/** Dialogs, menus and tabs, which are loaded after the first view. */
const PARTS_BYTES = 65_000;
const FIRST_REQUESTS = 6;

const sources = [...readSources(['console'], '.ts'), ...readSources(['console'], '.tsx')];
// As it is kept, packed and put into images.
const bundle = await bundleConsole(BEST_QUALITY);

function openNode({
  load = async () => bundle as Awaited<ReturnType<typeof bundleConsole>>,
  framedBy = [] as string[],
  command = 'verbatim',
} = {}) {
  const app = buildServer({
    routes: consoleRoutes(load, { framedBy, command }),
    auth: { findCaller: async () => null, adminToken: 'x' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: httpMetrics(openMetrics()),
  });
  return { app, [Symbol.asyncDispose]: () => app.close() };
}

/** The files of the bundle that the page names, and those that a file loads before it runs. */
const namesIn = (page: string) => [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name!);
const gzipBytes = (name: string) => bundle.files.get(name)!.gzip.length;
const outputOf = (name: string) => bundle.metafile.outputs[`console/dist/${name}`]!;
const staticImports = (name: string): string[] =>
  outputOf(name)
    .imports.filter(({ kind }) => kind === 'import-statement')
    .map((file) => path.basename(file.path));
const views = Object.entries(bundle.metafile.outputs)
  .filter(([, { entryPoint }]) => entryPoint?.startsWith('console/views/'))
  .map(([file]) => path.basename(file));

test('the page has the command that its reader can type, as text', async () => {
  await using node = openNode({ command: 'bin/"verbatim"&$&<b>' });
  await using plain = openNode();

  const { body } = await node.app.inject({ url: '/' });

  assert.match(body, /<meta name="command" content="bin\/&quot;verbatim&quot;&amp;\$&amp;<b>">/);
  assert.match((await plain.app.inject({ url: '/' })).body, /<meta name="command" content="verbatim">/);
});

test('no text of the console names the command other than by what the reader can type', () => {
  const named = sources.filter(({ text }) => /["'`>]verbatim [a-z]/.test(text)).map(({ file }) => file);

  assert.deepEqual(named, []);
});

test('the page runs nothing inline and loads nothing from elsewhere', async () => {
  await using node = openNode();

  const { statusCode, headers, body } = await node.app.inject({ url: '/' });

  assert.equal(statusCode, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(headers['cache-control'], 'no-cache');
  assert.doesNotMatch(body, /<style|style=|\son\w+=|https?:\/\/|<script(?![^>]* src=")/);
});

test('only the pages of the given origins may show the console in a frame', async () => {
  await using node = openNode({ framedBy: ['https://intranet.example.com', 'http://localhost:3000'] });

  const { headers } = await node.app.inject({ url: '/' });

  assert.match(
    String(headers['content-security-policy']),
    /; frame-ancestors https:\/\/intranet\.example\.com http:\/\/localhost:3000;/,
  );
});

test('the first list needs few requests and bytes, and so does each view', () => {
  const first = namesIn(bundle.page);
  const list = views.find((name) => outputOf(name).entryPoint === 'console/views/jobs/index.tsx')!;
  const loaded = new Set([...first.filter((name) => !name.endsWith('.svg')), list, ...staticImports(list)]);
  const scripts = first.filter((name) => name.endsWith('.js'));
  const styles = first.filter((name) => name.endsWith('.css'));
  const sum = (names: string[]) => names.reduce((bytes, name) => bytes + gzipBytes(name), 0);

  assert.ok(views.length >= 20, `${views.length} views`);
  // With the page itself.
  assert.ok(loaded.size + 1 <= FIRST_REQUESTS, [...loaded].join());
  assert.ok(scripts.length >= 2 && styles.length === 1, first.join());
  const parts = Object.keys(bundle.metafile.outputs)
    .filter((file) => 'console/ui/aria/parts.ts' in bundle.metafile.outputs[file]!.inputs)
    .map((file) => path.basename(file));
  assert.ok(parts.length === 1 && sum(parts) <= PARTS_BYTES, `${parts}: ${sum(parts)} bytes of dialogs and menus`);
  assert.ok(!parts.some((name) => first.includes(name)));
  for (const name of views) {
    const own = [name, ...staticImports(name)].filter((file) => !scripts.includes(file) && !parts.includes(file));
    assert.ok(sum(own) <= VIEW_BYTES, `${outputOf(name).entryPoint}: ${sum(own)} bytes`);
  }
});

test('the first view needs at most 120 KiB, whichever of the usual ones it is', () => {
  const withImports = (name: string, found = new Set<string>()): Set<string> => {
    if (found.has(name) || !name.endsWith('.js')) return found.add(name);
    found.add(name);
    for (const other of staticImports(name)) withImports(other, found);
    return found;
  };

  for (const view of ['home', 'sign-in', 'jobs', 'transcribe', 'search', 'webhooks', 'share']) {
    const script = views.find((name) => outputOf(name).entryPoint === `console/views/${view}/index.tsx`)!;
    const needed = new Set([...namesIn(bundle.page), script].flatMap((name) => [...withImports(name)]));
    const bytes = [...needed].map((name) => bundle.files.get(name)!.br.length).reduce((sum, one) => sum + one, 0);

    assert.ok(bytes + bundle.page.length <= FIRST_VIEW_BYTES, `${view}: ${bytes} bytes of ${[...needed]}`);
  }
});

test('what runs in the audio thread is a file of its own, which its view names', () => {
  const [name, ...others] = [...bundle.files.keys()].filter((file) => file.startsWith('pcm-worklet-'));
  const code = bundle.files.get(name!)!;
  const view = views.find((file) => outputOf(file).entryPoint === 'console/views/live/index.tsx')!;

  assert.deepEqual(others, []);
  assert.match(code.contentType, /^text\/javascript/);
  assert.match(code.identity.toString(), /registerProcessor\("pcm"/);
  assert.doesNotMatch(code.identity.toString(), /\bimport\b/);
  assert.ok(bundle.files.get(view)!.identity.includes(name!));
  assert.deepEqual(
    namesIn(bundle.page).filter((file) => bundle.files.get(file)!.identity.includes(name!)),
    [],
  );
});

test('every file is sent compressed as the browser asks, and may be kept for ever', async () => {
  await using node = openNode();
  const decode = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync, identity: (body: Buffer) => body };
  const asked = [
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['identity', 'identity'],
  ] as const;

  for (const [name, { identity }] of bundle.files) {
    for (const [accepted, encoding] of asked) {
      const answer = await node.app.inject({ url: `/console/${name}`, headers: { 'accept-encoding': accepted } });

      assert.deepEqual([name, answer.statusCode], [name, 200]);
      assert.equal(answer.headers['content-encoding'] ?? 'identity', encoding);
      assert.match(String(answer.headers['cache-control']), /immutable/);
      assert.equal(answer.headers['vary'], 'accept-encoding');
      assert.ok(decode[encoding](answer.rawPayload).equals(identity));
    }
  }
});

test('what is no file of the bundle is a 404', async () => {
  await using node = openNode();
  const urls = [
    'main.tsx',
    'index.html',
    'none-ABCDEFGH.js',
    '..%2f..%2fpackage.json',
    '__proto__',
    'views/jobs/index.tsx',
  ];

  const answers = await Promise.all(urls.map((file) => node.app.inject({ url: `/console/${file}` })));

  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    urls.map(() => 404),
  );
  assert.equal(answers[0]!.json().error.type, 'not_found');
});

test('a bundle that fails is a clear error, and is tried again at the next visit', async () => {
  let calls = 0;
  await using node = openNode({
    async load() {
      if (++calls === 1) throw new Error('The console could not be bundled: console/main.tsx:3: Expected ";"');
      return bundle;
    },
  });

  const failed = await node.app.inject({ url: '/' });
  const second = await node.app.inject({ url: '/' });

  assert.deepEqual([failed.statusCode, failed.json().error.type], [503, 'unavailable']);
  assert.match(failed.json().error.message, /main\.tsx:3/);
  assert.equal(second.statusCode, 200);
});

test('a bundle is kept where the files never change, then read, and one that cannot be kept is served', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-console-'));
  const [kept, unkept, refused] = ['kept', 'unkept', 'file/refused'].map((name) => path.join(folder, name));
  writeFileSync(path.join(folder, 'file'), '');
  try {
    const bundles = [
      await openConsole(kept, { isKept: true })(),
      await openConsole(unkept, { isKept: false })(),
      await openConsole(refused, { isKept: true })(),
    ];
    writeFileSync(path.join(kept!, 'index.html'), 'read from the folder');
    const read = await openConsole(kept, { isKept: true })();

    assert.deepEqual(new Set(bundles.map(({ page }) => page)), new Set([bundle.page]));
    assert.deepEqual(readdirSync(folder).sort(), ['file', 'kept']);
    assert.equal(read.page, 'read from the folder');
    assert.deepEqual([...read.files.keys()].sort(), [...bundle.files.keys()].sort());
    for (const [name, file] of read.files) assert.deepEqual([name, file], [name, bundle.files.get(name)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('no text becomes markup or code, and secrets stay in the tab', () => {
  const risky =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|document\.cookie|style="/i;

  assert.ok(sources.length > 50);
  assert.deepEqual(
    sources.filter((source) => risky.test(codeOf(source))).map(({ file }) => file),
    [],
  );
  assert.deepEqual(
    sources.filter((source) => /localStorage/.test(codeOf(source))).map(({ file }) => file),
    ['console/session/preferences.ts'],
  );
});

test('no view imports another view, and shared code imports none', () => {
  const viewOf = (file: string) => /^console\/views\/([\w-]+)\//.exec(file)?.[1];
  const wrong = sources.flatMap((source) =>
    importsOf(source)
      .filter(({ from }) => viewOf(from) !== undefined && viewOf(from) !== viewOf(source.file))
      .map(({ from }) => `${source.file} imports ${from}`),
  );

  // The table of routes.
  assert.deepEqual(
    wrong.filter((line) => !/^console\/app\/routes\.ts /.test(line)),
    [],
  );
});
