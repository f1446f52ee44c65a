'use strict';
const fs = require('node:fs');
const path = require('node:path');

/** The system's tools that a service with these settings needs: ffmpeg always, pocketsphinx while nothing better is set. */
function wantedTools(env) {
  const isPocketsphinx = (spec) => (spec ? spec === 'pocketsphinx' : !hasModel(env.DATA_DIR || './data'));
  return ['ffmpeg', ...([env.ENGINE_LITE, env.ENGINE_PRO].some(isPocketsphinx) ? ['pocketsphinx'] : [])];
}

function hasModel(dataDir) {
  try {
    return fs.readdirSync(path.join(dataDir, 'models')).length > 0;
  } catch {
    return false;
  }
}

module.exports = { wantedTools };
