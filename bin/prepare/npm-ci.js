'use strict';
const { step } = require('./step.js');

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--include=optional'];

/**
 * Installs exactly what the lock file in `folder` says, and runs no script of any package.
 * @param withDev  the packages for development too
 */
function npmCi(label, folder, { withDev = false } = {}) {
  return npm(label, folder, ['ci', ...devFlag(withDev), ...FLAGS]);
}

/**
 * Adds the packages for development to the others, which are left alone: a service may be running from them. The lock
 * file is obeyed, and not written.
 */
function npmAddDev(label, folder) {
  return npm(label, folder, ['install', '--no-save', ...devFlag(true), ...FLAGS]);
}

function devFlag(withDev) {
  return [withDev ? '--include=dev' : '--omit=dev'];
}

function npm(label, folder, args) {
  const given = process.env.npm_execpath ?? '';
  // Under `npm run` that is the npm in use, which need not be the one on PATH.
  const [command, ...first] = given.endsWith('npm-cli.js') ? [process.execPath, given] : ['npm'];
  return step(label, command, [...first, ...args, '--prefix', folder], { cwd: folder });
}

module.exports = { npmCi, npmAddDev };
