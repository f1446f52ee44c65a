'use strict';
const fs = require('node:fs');
const path = require('node:path');

/**
 * Whether node_modules has the packages of package-lock.json. npm writes node_modules/.package-lock.json as the last
 * step of an install, so an interrupted install does not count. Optional packages may be missing, since most are for
 * other platforms, and so may development packages unless they are needed.
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

module.exports = { isInstalled };
