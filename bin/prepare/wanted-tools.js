'use strict';
const fs = require('node:fs');
const path = require('node:path');

/** The sandbox for decoders of untrusted files; available on Linux only. */
const SANDBOX = process.platform === 'linux' ? ['bubblewrap'] : [];

/**
 * The system tools that a service with these settings needs: ffmpeg and its sandbox for the roles that open audio, and
 * pocketsphinx for a transcriber unless a better engine is set.
 */
function wantedTools(env) {
  const has = (role) => !env.ROLES || env.ROLES.split(',').some((name) => name.trim() === role);
  if (!has('api') && !has('transcriber')) return [];
  const isPocketsphinx = (spec) => (spec ? spec === 'pocketsphinx' : !hasModel(env.DATA_DIR || './data'));
  const needsPocketsphinx = has('transcriber') && [env.ENGINE_LITE, env.ENGINE_PRO].some(isPocketsphinx);
  return ['ffmpeg', ...SANDBOX, ...(needsPocketsphinx ? ['pocketsphinx'] : [])];
}

function hasModel(dataDir) {
  try {
    return fs.readdirSync(path.join(dataDir, 'models')).length > 0;
  } catch (error) {
    // A folder that cannot be read may contain models: the service reports the problem.
    return error.code !== 'ENOENT';
  }
}

module.exports = { SANDBOX, wantedTools };
