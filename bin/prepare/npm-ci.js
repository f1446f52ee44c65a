'use strict';
const { step } = require('./step.js');

const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--include=optional'];

/**
 * Installs exactly the packages of the lock file in `folder`, without running their scripts.
 * @param withDev  whether to install the development packages too
 */
function npmCi(label, folder, { withDev = false } = {}) {
  return npm(label, folder, ['ci', ...devFlag(withDev), ...FLAGS]);
}

/**
 * Adds the development packages. The others stay untouched, because a service may be running from them. The lock file
 * is followed and not written.
 */
function npmAddDev(label, folder) {
  return npm(label, folder, ['install', '--no-save', ...devFlag(true), ...FLAGS]);
}

function devFlag(withDev) {
  return [withDev ? '--include=dev' : '--omit=dev'];
}

function npm(label, folder, args) {
  const given = process.env.npm_execpath ?? '';
  // Under `npm run` this is the running npm, which may differ from the one on PATH.
  const [command, ...first] = given.endsWith('npm-cli.js') ? [process.execPath, given] : ['npm'];
  return step(label, command, [...first, ...args, '--prefix', folder], { cwd: folder });
}

module.exports = { npmCi, npmAddDev };
