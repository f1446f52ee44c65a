'use strict';
const { step } = require('./step.js');

/** Installs exactly what the lock file in `folder` says, and runs no script of any package. */
function npmCi(label, folder) {
  const given = process.env.npm_execpath ?? '';
  // Under `npm run` that is the npm in use, which need not be the one on PATH.
  const [command, ...first] = given.endsWith('npm-cli.js') ? [process.execPath, given] : ['npm'];
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--include=dev',
    '--include=optional',
  ];
  return step(label, command, [...first, 'ci', ...flags, '--prefix', folder], { cwd: folder });
}

module.exports = { npmCi };
