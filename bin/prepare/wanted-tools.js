'use strict';

/** The sandbox for decoders of untrusted files; available on Linux only. */
const SANDBOX = process.platform === 'linux' ? ['bubblewrap'] : [];

/** The system tools that a service with these settings needs: ffmpeg and its sandbox, for the roles that open audio. */
function wantedTools(env) {
  const has = (role) => !env.ROLES || env.ROLES.split(',').some((name) => name.trim() === role);
  return has('api') || has('transcriber') ? ['ffmpeg', ...SANDBOX] : [];
}

module.exports = { SANDBOX, wantedTools };
