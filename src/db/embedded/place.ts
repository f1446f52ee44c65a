import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeDurableFolder } from '../../platform/files/durable-names.ts';

// The kernel's limit is 107 bytes (Linux) or 103 (macOS) for the folder and `/.s.PGSQL.5432` together.
const SOCKET_FOLDER_MAX_BYTES = 85;
/** The user `nobody` on Linux; owns nothing else. */
const NOBODY = 65_534;

/**
 * Creates a folder that only PostgreSQL's user (and root) may enter. That is the user of this process; as root, which
 * must not run PostgreSQL, the present owner of the folder, else `nobody`.
 */
export function makeFolder(dir: string): void {
  makeDurableFolder(dir, { mode: 0o700 });
  const stat = fs.lstatSync(dir);
  if (!stat.isDirectory()) throw new Error(`${dir} must be a folder, not a link.`);
  const self = process.getuid?.() ?? stat.uid;
  if (self === 0 && stat.uid === 0) fs.chownSync(dir, NOBODY, NOBODY);
  if (self !== 0 && stat.uid !== self) {
    throw new Error(
      `${dir} belongs to user ${stat.uid}, this is user ${self}; run as that user or choose another DATA_DIR.`,
    );
  }
  fs.chmodSync(dir, 0o700);
}

/** The folder for the Unix socket: `dir`, or a private one below the temporary folder when that path is too long. */
export function socketFolder(dir: string): string {
  if (Buffer.byteLength(dir) <= SOCKET_FOLDER_MAX_BYTES) return dir;
  const folder = path.join(os.tmpdir(), `verbatim-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`);
  makeFolder(folder);
  // Anybody may create this name in the temporary folder, and its owner could impersonate the database.
  if (fs.statSync(folder).uid !== fs.statSync(dir).uid) throw new Error(`${folder} is not ours; remove it.`);
  return folder;
}

/**
 * The command line that runs `command` as the owner of `dir`, with SIGINT when this process ends.
 * PostgreSQL refuses to run as root. Its user keeps one capability of root: to read the folders above `dir` and the
 * programs, such as /root (0700), but not to write.
 */
export function asPostgresUser(dir: string, command: string[]): string[] {
  const setpriv = findSetpriv();
  const owner = fs.statSync(dir).uid;
  if (process.getuid?.() !== 0) return setpriv ? [setpriv, '--pdeathsig', 'INT', '--', ...command] : command;
  if (!setpriv)
    throw new Error('PostgreSQL does not run as root and setpriv (util-linux) is missing: start as a plain user.');
  const user = [`--reuid=${owner}`, `--regid=${owner}`, '--clear-groups'];
  // Without the last option, access(2) ignores the capability, and PostgreSQL finds its programs with access(2).
  const rights = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search', '--securebits=+no_setuid_fixup'];
  return [setpriv, ...user, ...rights, '--pdeathsig', 'INT', '--', ...command];
}

function findSetpriv(): string | undefined {
  return ['/usr/bin/setpriv', '/bin/setpriv'].find((file) => fs.existsSync(file));
}
