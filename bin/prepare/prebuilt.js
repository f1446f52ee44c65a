'use strict';
const fs = require('node:fs');
const path = require('node:path');

/**
 * The folder with the programs of a published package: the service, the command line and the demo, made from the
 * sources, which the package does not have. scripts/build-server.ts writes it. Null in a clone.
 */
function prebuiltFolder(root) {
  const folder = path.join(root, 'prebuilt');
  return fs.existsSync(folder) ? folder : null;
}

module.exports = { prebuiltFolder };
