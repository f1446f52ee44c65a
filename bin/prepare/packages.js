'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { npmAddDev, npmCi } = require('./npm-ci.js');

/**
 * Installs the npm packages unless exactly those of package-lock.json are there, whoever installed them. The packages for
 * development are added where they are wanted, and stay until the lock file changes.
 */
async function preparePackages(root, { withDev = false } = {}) {
  if (isInstalled(root, { withDev })) return;
  if (withDev && isInstalled(root, { withDev: false })) {
    return await npmAddDev('adding the npm packages for development', root);
  }
  await npmCi('installing npm packages', root, { withDev });
}

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes what it installed into
 * node_modules/.package-lock.json as its last act, in the same form, so an install that was cut short does not count.
 * Optional packages may be missing: most are for other machines. So may packages for development, unless they are
 * wanted.
 */
function isInstalled(root, { withDev }) {
  const installed = readPackages(path.join(root, 'node_modules', '.package-lock.json'));
  const wanted = readPackages(path.join(root, 'package-lock.json'));
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '' || (entry.dev && !withDev)) return true;
    const isMissable = entry.optional || (entry.devOptional && !withDev);
    return installed[name] ? installed[name].integrity === entry.integrity : isMissable;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch {
    return null;
  }
}

module.exports = { preparePackages, isInstalled };
