'use strict';
const os = require('node:os');
const path = require('node:path');

/** This user's folder for what can be fetched again. */
function cacheFolder() {
  return path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'verbatim');
}

module.exports = { cacheFolder };
