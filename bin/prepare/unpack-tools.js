'use strict';
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { cacheFolder } = require('./cache-folder.js');
const { step } = require('./step.js');

/** A script that starts a program with its libraries, independent of the caller's environment. */
const STARTER = `#!/bin/sh
here=\${0%/*}/..
LD_LIBRARY_PATH=$here/lib exec "$here/root/usr/bin/\${0##*/}" "$@"
`;

const DAY_MS = 86_400_000;
// Decoders of untrusted media get security fixes, and nothing else updates this folder.
const MAX_AGE_MS = 30 * DAY_MS;
const RETRY_AFTER_MS = DAY_MS;

/**
 * Unpacks Debian packages and their missing dependencies into a folder of this user: downloading and unpacking needs no
 * root rights, only installing does. Repeated when the unpacked tools are older than 30 days. Resolves with the folder:
 * `bin` with the programs, `lib` with every shared library (for LD_LIBRARY_PATH), `share`.
 */
async function unpackTools(packages, { cache = cacheFolder(), make = makeTools, nowMs = Date.now() } = {}) {
  const folder = folderFor(packages, cache);
  const madeMs = fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? null;
  if (madeMs !== null && nowMs - madeMs <= MAX_AGE_MS) return folder;
  const making = `${folder}.${process.pid}`;
  try {
    await make(packages, making);
    // The age counts from now: the files keep the dates of their packages.
    setAge(making, nowMs);
    putInPlace(making, folder);
  } catch (error) {
    if (madeMs === null) throw error;
    process.stderr.write(`verbatim: the tools in ${folder} are old and stay: ${error.message}\n`);
    setAge(folder, nowMs - MAX_AGE_MS + RETRY_AFTER_MS);
  } finally {
    fs.rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

async function makeTools(packages, making) {
  const root = path.join(making, 'root');
  fs.mkdirSync(root, { recursive: true });
  await download(packages, making);
  await unpackAll(path.join(making, 'cache', 'archives'), root);
  layOut(making);
  for (const scratch of ['state', 'cache']) fs.rmSync(path.join(making, scratch), { recursive: true });
}

/** Replaces the folder: a running service finds the new tools under the same paths. */
function putInPlace(making, folder) {
  const old = `${folder}.old.${process.pid}`;
  if (fs.existsSync(folder)) fs.renameSync(folder, old);
  fs.renameSync(making, folder);
  fs.rmSync(old, { recursive: true, force: true });
}

function setAge(folder, atMs) {
  fs.utimesSync(folder, atMs / 1000, atMs / 1000);
}

/** The folder's name contains the system release, because another release needs other libraries. */
function folderFor(packages, cache) {
  const system = fs.readFileSync('/etc/os-release', 'utf8');
  const hash = createHash('sha256')
    .update(JSON.stringify([packages, process.arch, system, STARTER]))
    .digest('hex');
  return path.join(cache, `tools-${hash.slice(0, 16)}`);
}

/**
 * apt-get with its lists and downloads in `making` instead of /var: fetches the packages, and what they need that is
 * not installed.
 * @param status  dpkg's list of what is installed: of this system, or an empty file
 */
async function download(packages, making, status = '/var/lib/dpkg/status') {
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    fs.mkdirSync(path.join(making, folder), { recursive: true });
  }
  const settings = [
    `Dir::State=${making}/state`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${making}/cache`,
    'Debug::NoLocking=1',
    'Acquire::Languages=none',
  ].flatMap((setting) => ['-o', setting]);
  await step('fetching the package lists', 'apt-get', [...settings, 'update']);
  const args = [...settings, 'install', '--download-only', '-y', '--no-install-recommends', ...packages];
  await step(`fetching ${packages.join(', ')} (unpacked for this user, no root needed)`, 'apt-get', args);
}

async function unpackAll(archives, root) {
  const files = fs.readdirSync(archives).filter((file) => file.endsWith('.deb'));
  const script = 'root=$1; shift; for file; do dpkg-deb -x "$file" "$root" || exit 1; done';
  const paths = files.map((file) => path.join(archives, file));
  await step(`unpacking ${files.length} packages`, 'sh', ['-c', script, 'sh', root, ...paths]);
}

/** Some libraries (blas, lapack, pulseaudio) are in subfolders to which an installation would create links. */
function layOut(making) {
  fs.mkdirSync(path.join(making, 'bin'));
  for (const program of fs.readdirSync(path.join(making, 'root/usr/bin'))) {
    fs.writeFileSync(path.join(making, 'bin', program), STARTER, { mode: 0o755 });
  }
  fs.symlinkSync('root/usr/share', path.join(making, 'share'));
  fs.mkdirSync(path.join(making, 'lib'));
  const roots = ['root/usr/lib', 'root/lib'].filter((folder) => fs.existsSync(path.join(making, folder)));
  const libraries = roots.flatMap((folder) => librariesIn(making, folder));
  // Of two libraries with the same name, the system uses the one with the shorter path.
  libraries.sort((one, other) => one.split('/').length - other.split('/').length);
  for (const library of libraries) {
    const link = path.join(making, 'lib', path.basename(library));
    if (!isLink(link)) fs.symlinkSync(path.join('..', library), link);
  }
}

function librariesIn(making, folder) {
  return fs.readdirSync(path.join(making, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return librariesIn(making, name);
    return /\.so(\.|$)/.test(entry.name) ? [name] : [];
  });
}

function isLink(file) {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

module.exports = { download, STARTER, unpackTools };
