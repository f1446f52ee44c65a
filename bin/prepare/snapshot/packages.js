'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { hashText, linkOrCopy } = require('./files.js');

const INSTALLED = path.join('node_modules', '.package-lock.json');
const NODE_LOCK = path.join('bin', 'node24', 'package-lock.json');
// Only compilers, debuggers and readers open these.
const UNLOADED = /\.(map|d\.ts|d\.mts|d\.cts|md)$/;

/** A name for the npm packages and the Node that are installed in the project. */
function packagesName(root) {
  const files = nodeIn(root) ? [INSTALLED, NODE_LOCK] : [INSTALLED];
  return `packages-${hashText(files.map((file) => read(path.join(root, file))).join('\n'))}`;
}

/**
 * Gives the files of the installed packages, without those for development, and of the project's own Node a second
 * name in the folder: they stay when npm replaces the first. Where npm has installed nothing, Node finds the packages
 * of a folder above.
 */
function linkPackages(root, to) {
  const { packages = {} } = JSON.parse(read(path.join(root, INSTALLED)) || '{}');
  for (const [name, { dev }] of Object.entries(packages)) {
    if (!dev && fs.existsSync(path.join(root, name))) linkFolder(path.join(root, name), path.join(to, name));
  }
  const node = nodeIn(root);
  if (node) linkOrCopy(node, keptNode(to));
}

/** Packages in a package have entries of their own. */
function linkFolder(from, to) {
  fs.mkdirSync(to, { recursive: true });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [file, link] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(file), link);
    else if (entry.isDirectory() && entry.name !== 'node_modules') linkFolder(file, link);
    else if (entry.isFile() && !UNLOADED.test(entry.name)) linkOrCopy(file, link);
  }
}

/**
 * The Node that runs a snapshot: its own in place of the project's, which another version may replace.
 * @param bundle  as `prepareBundle` returns it
 */
function nodeFor(root, bundle, node) {
  const kept = keptNode(path.dirname(bundle));
  return node === nodeIn(root) && fs.existsSync(kept) ? kept : node;
}

function keptNode(packages) {
  return path.join(packages, 'node');
}

/** The Node that bin/prepare/node24.js has installed in the project; null when it has not. */
function nodeIn(root) {
  const file = path.join(root, 'bin/node24/node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  return fs.existsSync(file) ? file : null;
}

function read(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

module.exports = { linkPackages, nodeFor, packagesName };
