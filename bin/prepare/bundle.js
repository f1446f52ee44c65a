'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { prebuiltFolder } = require('./prebuilt.js');
const { copyFiles, hashFiles, hashText, isWhole, listFiles } = require('./snapshot/files.js');
const { linkPackages, packagesName } = require('./snapshot/packages.js');
const { removeFolder, removeUnused } = require('./snapshot/unused.js');

const SNAPSHOTS = '.snapshots';
const ENTRY_POINTS = path.join('bin', 'entry-points.json');
const OPTIONS = [
  ...['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node24'],
  '--log-level=error',
];
/**
 * They have native code, or find their own files by their place; or they are CommonJS and loaded by `import()`, which
 * finds no names in a bundle of them.
 */
const NOT_BUNDLED = [
  ...['esbuild', 'fontkit', 'pdfkit', 'sherpa-onnx-node'],
  ...['@aws-sdk/client-s3', '@aws-sdk/lib-storage'],
];
/** Parts of Fastify that the service does not use: their text would stay in memory. */
const NOT_LOADED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'];
const WITH_PACKAGES = [
  ...[...NOT_BUNDLED, ...NOT_LOADED].map((name) => `--external:${name}`),
  // For packages that are CommonJS.
  '--banner:js=const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);',
];
const WITHOUT_PACKAGES = ['--packages=external'];

/**
 * Bundles the service with esbuild: a file for each of its entry points, and some that they share, in place of 700
 * modules and as many of npm packages. Beside them is all that the service reads later: files of the project are
 * copied, npm packages and Node are linked. So a service goes on as it was started while npm, git or an editor replaces
 * the files of the project. The folder is named by a hash of them all; nothing is done where it is there already.
 * @param root  folder of the project, with its npm packages
 * @returns  the folder of the bundle, with a file `<name>.js` for each entry point
 * @throws Error  when a source is wrong, or nothing can be written there
 */
function prepareBundle(root) {
  const prebuilt = prebuiltFolder(root);
  if (prebuilt) return prebuilt;
  const { sources, read } = listFiles(root);
  const bundle = hashBundle(root, sources);
  const inPlace = path.join(root, SNAPSHOTS, `in-place-${bundle}`);
  if (fs.existsSync(inPlace)) return inPlace;
  const packages = path.join(root, SNAPSHOTS, packagesName(root));
  const folder = path.join(packages, `service-${hashText(bundle + hashFiles(root, read))}`);
  if (fs.existsSync(folder) && !isWhole(root, read, folder)) removeFolder(folder);
  if (isUsed(folder)) return folder;
  makeFolder(root, packages, (made) => linkPackages(root, made));
  makeFolder(root, folder, (made) => {
    writeBundle(root, made);
    makeDurable(made);
    copyFiles(root, read, made);
  });
  removeUnused(path.join(root, SNAPSHOTS));
  return folder;
}

/**
 * Bundles the service for an image, whose files nothing replaces: the bundle alone, which reads the project's files and
 * packages where they are.
 */
function prepareInPlace(root) {
  const folder = path.join(root, SNAPSHOTS, `in-place-${hashBundle(root, listFiles(root).sources)}`);
  makeFolder(root, folder, (made) => {
    writeBundle(root, made);
    makeDurable(made);
  });
}

/** package.json, a source, names the version of esbuild. */
function hashBundle(root, sources) {
  return hashText(fs.readFileSync(__filename, 'utf8') + hashFiles(root, sources));
}

/** Whether it is there; the time says that it was used last. */
function isUsed(folder) {
  try {
    fs.utimesSync(folder, Date.now() / 1000, Date.now() / 1000);
    return true;
  } catch (error) {
    // It may belong to another user, or be read-only.
    return error.code !== 'ENOENT' && fs.existsSync(folder);
  }
}

/** Makes the folder unless it is there. It gets its name when it is complete. */
function makeFolder(root, folder, fill) {
  if (fs.existsSync(folder)) return;
  const making = `${folder}.${process.pid}`;
  try {
    fs.mkdirSync(making, { recursive: true });
    fill(making);
    fs.renameSync(making, folder);
  } catch (error) {
    fs.rmSync(making, { recursive: true, force: true });
    // Another process may have been faster.
    if (!fs.existsSync(folder)) throw new Error(describeFailure(root, error), { cause: error });
  }
}

/** After a power failure the folder has its name only if the bundle is whole. */
function makeDurable(folder) {
  for (const name of [...fs.readdirSync(folder), '.']) {
    const file = fs.openSync(path.join(folder, name), 'r');
    fs.fsyncSync(file);
    fs.closeSync(file);
  }
}

/**
 * Writes a bundle of the service, and of these modules by name, without npm packages: for a package that npm installs
 * with its dependencies, and with their licences.
 */
function writePublished(root, outdir, morePrograms) {
  writeBundle(root, outdir, morePrograms, WITHOUT_PACKAGES);
}

function writeBundle(root, outdir, morePrograms = {}, packages = WITH_PACKAGES) {
  const entryPoints = JSON.parse(fs.readFileSync(path.join(root, ENTRY_POINTS), 'utf8'));
  const modules = Object.entries({ ...entryPoints, ...morePrograms }).map(([name, file]) => `${name}=${file}`);
  // The program itself: a process of the library would stay with the service, which takes the place of this process.
  const program = require.resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' };
  execFileSync(program, [...modules, `--outdir=${outdir}`, ...OPTIONS, ...packages], options);
}

/** With esbuild's messages about the sources; anything else is missing or must not be written. */
function describeFailure(root, { message, stderr }) {
  const advice = `${message}\nRun bin/verbatim prepare once as the owner of ${root}.`;
  return `The service could not be bundled: ${stderr?.trim() || advice}`;
}

module.exports = { NOT_BUNDLED, prepareBundle, prepareInPlace, writePublished };
