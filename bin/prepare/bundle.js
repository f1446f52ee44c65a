'use strict';
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { capture } = require('./step.js');

const CACHE = path.join('node_modules', '.cache', 'verbatim');
const KEPT_BUNDLES = 10;
const MAIN = path.join('src', 'processes', 'main.ts');
// The module that a process or thread starts with, or a path relative to the module that names it.
const MODULE_URLS = /new URL\('([^']+)\.ts', import\.meta\.url\)|import\.meta\.url/g;
const OTHER_META = /import\.meta\.(?!url\b|resolve\b)\w+/;

/**
 * Bundles the service with esbuild: a file for each of its processes, and some that they share, in place of 500 modules.
 * The last ten bundles are kept, each by a hash of the sources; nothing is done where there is one already.
 * @param root  folder of the project, with its npm packages
 * @returns  the program that runs the service, relative to `root`
 * @throws Error  when a source is wrong, or nothing can be written there
 */
async function prepareBundle(root) {
  const sources = readSources(root);
  const folder = path.join(CACHE, `service-${hashOf(root, sources)}`);
  if (!fs.existsSync(path.join(root, folder))) await bundle(root, path.join(root, folder));
  return path.join(folder, 'main.js');
}

/** All modules of the service, and of the SDK, which it uses, by their paths; no tests. */
function readSources(root) {
  return ['src', path.join('sdk', 'src')].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .sort()
      .map((name) => path.join(root, folder, name))
      .map((file) => ({ file, text: fs.readFileSync(file, 'utf8') })),
  );
}

/** Of all that the bundle is made from; package.json names the version of esbuild. */
function hashOf(root, sources) {
  const hash = createHash('sha256');
  for (const { file, text } of sources) hash.update(`${path.relative(root, file)}\n${text.length}\n${text}`);
  for (const file of [__filename, path.join(root, 'package.json')]) hash.update(fs.readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

async function bundle(root, outdir) {
  // In a process of its own: that of esbuild would stay with the service, which takes the place of this process.
  const { code, output } = await capture(process.execPath, [__filename, root, outdir]);
  if (code !== 0) throw new Error(output.trim());
  removeOldBundles(path.dirname(outdir));
}

async function build(root, outdir) {
  const temporary = `${outdir}.${process.pid}`;
  fs.mkdirSync(temporary, { recursive: true });
  try {
    await require('esbuild').build({
      absWorkingDir: root,
      entryPoints: [...entriesOf(root, readSources(root))],
      outdir: temporary,
      ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node24', packages: 'external' },
      // In one folder, so that all files have the same way to the sources.
      ...{ entryNames: '[name]', chunkNames: '[name]-[hash]', charset: 'utf8', logLevel: 'silent' },
      plugins: [rewriteUrls(outdir)],
    });
    // After a power failure the folder has its name only if its files are whole.
    for (const name of fs.readdirSync(temporary)) syncFile(path.join(temporary, name));
    syncFile(temporary);
    fs.renameSync(temporary, outdir);
  } catch (error) {
    fs.rmSync(temporary, { recursive: true, force: true });
    // Another process was faster.
    if (!fs.existsSync(outdir)) throw error;
  }
}

function syncFile(name) {
  const file = fs.openSync(name, 'r');
  fs.fsyncSync(file);
  fs.closeSync(file);
}

/** All but the last ones: the service may still run from the one before. */
function removeOldBundles(cache) {
  const bundles = fs.readdirSync(cache).filter((name) => name.startsWith('service-'));
  const byAge = bundles.map((name) => path.join(cache, name)).sort((a, b) => modifiedMs(b) - modifiedMs(a));
  for (const old of byAge.slice(KEPT_BUNDLES)) fs.rmSync(old, { recursive: true, force: true });
}

/** 0 for what another process has just removed or renamed. */
function modifiedMs(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The modules that processes and threads start with. */
function entriesOf(root, sources) {
  const entries = new Set([path.join(root, MAIN)]);
  for (const { file, text } of sources) {
    for (const [, module] of text.matchAll(MODULE_URLS)) {
      if (module !== undefined) entries.add(path.resolve(path.dirname(file), `${module}.ts`));
    }
  }
  return entries;
}

/** Modules still find the files beside their source, and the bundled modules of processes. Relative: the project can be moved. */
function rewriteUrls(outdir) {
  return {
    name: 'rewrite-urls',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const text = fs.readFileSync(file, 'utf8');
        const [unknown] = OTHER_META.exec(text) ?? [];
        if (unknown) throw new Error(`${file}: ${unknown} is not known in a bundle; use import.meta.url`);
        const place = JSON.stringify(path.relative(outdir, file).split(path.sep).join('/'));
        const contents = text.replace(MODULE_URLS, (_, module) =>
          module === undefined
            ? `new URL(${place}, import.meta.url).href`
            : `new URL('./${path.basename(module)}.js', import.meta.url)`,
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

if (require.main === module) {
  const [root, outdir] = process.argv.slice(2);
  build(root, outdir).catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}

module.exports = { prepareBundle };
