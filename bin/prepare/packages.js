'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { npmCi } = require('./npm-ci.js');

/** Installs the npm packages unless exactly those of package-lock.json are there, whoever installed them. */
async function preparePackages(root) {
  if (!isInstalled(root)) await npmCi('installing npm packages', root);
}

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes what it installed into
 * node_modules/.package-lock.json as its last act, in the same form, so an install that was cut short does not count.
 * Optional packages may be missing: most are for other machines.
 */
function isInstalled(root) {
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  if (!installed || !wanted) return false;
  const isThere = ([name, entry]) => (installed[name] ? installed[name].integrity === entry.integrity : entry.optional);
  return Object.entries(wanted).every((pair) => pair[0] === '' || isThere(pair));
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch {
    return null;
  }
}

module.exports = { preparePackages, isInstalled };
