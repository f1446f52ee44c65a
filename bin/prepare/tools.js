'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { capture, step } = require('./step.js');
const { unpackTools } = require('./unpack-tools.js');

/** The Debian packages of each tool, and how to detect it. */
const TOOLS = {
  ffmpeg: { packages: ['ffmpeg'], isThere: () => isProgram('ffmpeg') && isProgram('ffprobe') },
  bubblewrap: { packages: ['bubblewrap'], isThere: () => isProgram('bwrap') },
};

/** The tools that are not installed. */
function missingTools(names) {
  return names.filter((name) => !TOOLS[name].isThere());
}

/**
 * Installs missing tools: as root with apt-get, else unpacked into a folder of this user.
 * Resolves with the environment variables that the programs need. If a tool cannot be installed, prints the command to
 * run and continues; /readyz of the service then reports what is missing. Nothing is installed where VERBATIM_TOOLS
 * names their folder.
 */
async function prepareTools(names) {
  if (process.env.VERBATIM_TOOLS) return {};
  const missing = missingTools(names);
  if (missing.length === 0) return {};
  const packages = missing.flatMap((name) => TOOLS[name].packages);
  try {
    if (!isProgram('apt-get')) throw new Error('there is no apt-get');
    if (process.getuid() !== 0) return { VERBATIM_TOOLS: await unpackTools(packages) };
    await installAsRoot(packages);
  } catch (error) {
    process.stderr.write(`verbatim: ${missing.join(' and ')} could not be installed: ${error.message}\n`);
    process.stderr.write(`verbatim: install with: ${commandToType(missing, packages)}\n`);
  }
  return {};
}

/** Another installation, such as the first updates of a new machine, may hold the lock of dpkg: apt-get then waits. */
const LOCK_WAIT_SECONDS = 300;
const WAIT_FOR_LOCK = ['-o', `DPkg::Lock::Timeout=${LOCK_WAIT_SECONDS}`];

async function installAsRoot(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Fails at once if the package lists are missing or outdated; then they are fetched.
  const known = await capture('apt-get', ['install', '--simulate', '--no-install-recommends', ...packages], { env });
  if (known.code !== 0) await step('updating the package lists', 'apt-get', ['update'], { env });
  const args = [...WAIT_FOR_LOCK, 'install', '-y', '--no-install-recommends', ...packages];
  const install = () => step(`installing ${packages.join(', ')} with apt-get`, 'apt-get', args, { env });
  if (known.code !== 0) return install();
  try {
    await install();
  } catch {
    await step('updating the package lists', 'apt-get', ['update'], { env });
    await install();
  }
}

function commandToType(missing, packages) {
  if (process.platform === 'darwin') return 'brew install ffmpeg';
  if (isProgram('apt-get')) return `sudo apt-get install ${packages.join(' ')}`;
  return `your system's package manager: ${missing.join(', ')}`;
}

/** The folders in which src/platform/tools.ts searches; it does not use PATH. */
const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin'];

function isProgram(name) {
  return PROGRAM_FOLDERS.some((folder) => fs.existsSync(path.join(folder, name)));
}

module.exports = { missingTools, prepareTools };
