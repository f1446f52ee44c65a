'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { cacheFolder } = require('./cache-folder.js');
const { npmCi } = require('./npm-ci.js');
const { prebuiltFolder } = require('./prebuilt.js');

const ROOT = path.resolve(__dirname, '../..');
const FOLDER = path.join(ROOT, 'bin/node24');
const FILES = ['package.json', 'package-lock.json'];

/**
 * Path of the Node that runs TypeScript: the current one if it is version 24 or newer, else one from npm. Uses the
 * packages per platform, because the package `node` downloads them in an install script, and install scripts are not
 * run. A published package may be read-only: it has its Node in the user's cache.
 */
async function prepareNode24() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const wanted = JSON.parse(fs.readFileSync(path.join(FOLDER, 'package.json'), 'utf8')).optionalDependencies[name];
  if (!wanted) throw new Error(`Node 24 is needed, this is ${process.version}: install it (npm has none for ${name}).`);
  const place = prebuiltFolder(ROOT) ? path.join(cacheFolder(), `node-${wanted}`) : FOLDER;
  const folder = path.join(place, 'node_modules', name);
  if (versionIn(folder) !== wanted) await installNode(wanted, place);
  return path.join(folder, 'bin', 'node');
}

async function installNode(wanted, place) {
  if (place !== FOLDER) {
    fs.mkdirSync(place, { recursive: true });
    for (const file of FILES) fs.copyFileSync(path.join(FOLDER, file), path.join(place, file));
  }
  await npmCi(`installing Node ${wanted}`, place);
}

function versionIn(folder) {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

module.exports = { prepareNode24 };

if (require.main === module) {
  prepareNode24().then(
    (node) => process.stdout.write(node),
    (error) => {
      process.stderr.write(`verbatim: ${error.message}\n`);
      process.exitCode = 1;
    },
  );
}
