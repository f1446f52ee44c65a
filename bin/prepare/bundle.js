'use strict';
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { prebuiltFolder } = require('./prebuilt.js');

const CACHE = path.join('node_modules', '.cache', 'verbatim');
const ENTRY_POINTS = path.join('bin', 'entry-points.json');
const KEPT_BUNDLES = 10;
const OPTIONS = [
  ...['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node24', '--packages=external'],
  ...['--charset=utf8', '--log-level=error'],
];

/**
 * Bundles the service with esbuild: a file for each of its entry points, and some that they share, in place of 500
 * modules. The last ten bundles are kept, each by a hash of the sources; nothing is done where there is one already.
 * @param root  folder of the project, with its npm packages
 * @returns  the folder of the bundle, with a file `<name>.js` for each entry point
 * @throws Error  when a source is wrong, or nothing can be written there
 */
function prepareBundle(root) {
  const prebuilt = prebuiltFolder(root);
  if (prebuilt) return prebuilt;
  const folder = path.join(root, CACHE, `service-${hashSources(root)}`);
  if (!fs.existsSync(folder)) bundle(root, folder);
  return folder;
}

/** Of all that the bundle is made from; package.json names the version of esbuild. */
function hashSources(root) {
  const hash = createHash('sha256').update(fs.readFileSync(__filename));
  for (const file of [ENTRY_POINTS, 'package.json', ...modulesIn(root, 'src'), ...modulesIn(root, 'sdk/src')]) {
    const text = fs.readFileSync(path.join(root, file));
    hash.update(`${file}\n${text.length}\n`).update(text);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Without tests, which images do not have. */
function modulesIn(root, folder) {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join(folder, name));
}

function bundle(root, folder) {
  const temporary = `${folder}.${process.pid}`;
  try {
    fs.mkdirSync(temporary, { recursive: true });
    writeBundle(root, temporary);
    makeDurable(temporary);
    fs.renameSync(temporary, folder);
  } catch (error) {
    fs.rmSync(temporary, { recursive: true, force: true });
    // Another process may have been faster.
    if (!fs.existsSync(folder)) throw new Error(describeFailure(root, error), { cause: error });
  }
  removeOldBundles(path.dirname(folder));
}

/**
 * Writes a bundle of the service into the folder.
 * @param morePrograms  modules by name, which are bundled too
 */
function writeBundle(root, outdir, morePrograms = {}) {
  const entryPoints = JSON.parse(fs.readFileSync(path.join(root, ENTRY_POINTS), 'utf8'));
  const modules = Object.entries({ ...entryPoints, ...morePrograms }).map(([name, file]) => `${name}=${file}`);
  // The program itself: a process of the library would stay with the service, which takes the place of this process.
  const program = require.resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' };
  execFileSync(program, [...modules, `--outdir=${outdir}`, ...OPTIONS], options);
}

/** With esbuild's messages about the sources; anything else is missing or must not be written. */
function describeFailure(root, { message, stderr }) {
  const advice = `${message}\nRun bin/verbatim prepare once as the owner of ${root}.`;
  return `The service could not be bundled: ${stderr?.trim() || advice}`;
}

/** After a power failure the folder has its name only if its files are whole. */
function makeDurable(folder) {
  for (const name of [...fs.readdirSync(folder), '.']) {
    const file = fs.openSync(path.join(folder, name), 'r');
    fs.fsyncSync(file);
    fs.closeSync(file);
  }
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

module.exports = { prepareBundle, writeBundle };
