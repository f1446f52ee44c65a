'use strict';
const fs = require('node:fs');
const path = require('node:path');

/** What runs decoders of strangers' files apart from all else; there is no such thing outside of Linux. */
const SANDBOX = process.platform === 'linux' ? ['bubblewrap'] : [];

/** The system's tools that a service with these settings needs: ffmpeg and its sandbox always, pocketsphinx while nothing better is set. */
function wantedTools(env) {
  const isPocketsphinx = (spec) => (spec ? spec === 'pocketsphinx' : !hasModel(env.DATA_DIR || './data'));
  return ['ffmpeg', ...SANDBOX, ...([env.ENGINE_LITE, env.ENGINE_PRO].some(isPocketsphinx) ? ['pocketsphinx'] : [])];
}

function hasModel(dataDir) {
  try {
    return fs.readdirSync(path.join(dataDir, 'models')).length > 0;
  } catch (error) {
    // A folder that cannot be read may hold models: the service says what to mend.
    return error.code !== 'ENOENT';
  }
}

module.exports = { SANDBOX, wantedTools };
