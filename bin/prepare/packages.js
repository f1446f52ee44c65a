'use strict';
const { isInstalled } = require('./installed.js');
const { npmAddDev, npmCi } = require('./npm-ci.js');
const { prebuiltFolder } = require('./prebuilt.js');

/**
 * Installs the npm packages unless node_modules has exactly those of package-lock.json. Development packages are added
 * when a command needs them, and stay until the lock file changes. The packages of a published package are npm's
 * matter.
 */
async function preparePackages(root, { withDev = false } = {}) {
  if (prebuiltFolder(root) || isInstalled(root, { withDev })) return;
  if (withDev && isInstalled(root, { withDev: false })) {
    return await npmAddDev('adding the npm packages for development', root);
  }
  await npmCi('installing npm packages', root, { withDev });
}

module.exports = { preparePackages };
