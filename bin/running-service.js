'use strict';
const fs = require('node:fs');
const path = require('node:path');

/**
 * The service that runs with DATA_DIR, else with the folder of a service or a demo here: its data directory, and where
 * it listens, which it writes there at its start. Null when none runs.
 */
function findRunningService(env) {
  const guessed = ['./data', env.DEMO_DATA_DIR || './data-demo'];
  for (const dataDir of env.DATA_DIR ? [env.DATA_DIR] : guessed) {
    const found = readAddress(path.join(dataDir, 'address.json'), { isNamed: Boolean(env.DATA_DIR) });
    if (found) return { dataDir, ...found };
  }
  return null;
}

/** Keys are sent there: the file of another user counts only where the folder was named. */
function readAddress(file, { isNamed }) {
  try {
    if (!isNamed && fs.statSync(file).uid !== process.getuid?.()) return null;
    const { pid, url, operator_url: operatorUrl } = JSON.parse(fs.readFileSync(file, 'utf8'));
    return isAlive(pid) && [url, operatorUrl].every((one) => URL.canParse(one)) ? { url, operatorUrl } : null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It belongs to another user.
    return error.code === 'EPERM';
  }
}

module.exports = { findRunningService };
