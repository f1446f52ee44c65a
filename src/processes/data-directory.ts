import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Config } from '../config/settings.ts';
import { dataPaths } from '../config/settings.ts';
import { keys32 } from '../config/values.ts';
import { openWritableFolder } from './writable-folder.ts';

/** A new node id: kept in the data directory, or used by one process only. */
export function newNodeId(): string {
  return `node_${randomBytes(10).toString('hex')}`;
}

/** The node id of this data directory, created at the first start (0600). A copy of the directory has the same id. */
export function keptNodeId(config: Config): string {
  const file = dataPaths(config.dataDir).nodeId;
  const id = keptText(file, newNodeId);
  if (!/^node_[0-9a-f]{20}$/.test(id)) throw new Error(`${file} does not hold the name of a node; remove it`);
  return id;
}

export type Secrets = { adminToken: string; secretsKeys: Buffer[] };

/**
 * Creates the data directory (0700) and returns the two secrets of the node: from the settings, else from the files that
 * the first start created (0600).
 * @throws FolderError  if this process cannot write to the directory
 * @throws Error            if the contents of a file are invalid
 */
export function prepareDataDir(config: Config): Secrets {
  openWritableFolder(config.dataDir);
  const paths = dataPaths(config.dataDir);
  mkdirSync(paths.audio, { recursive: true, mode: 0o700 });
  mkdirSync(paths.models, { recursive: true, mode: 0o700 });
  const adminToken = config.adminToken ?? keptText(paths.adminToken, () => randomBytes(32).toString('base64url'));
  return { adminToken, secretsKeys: config.secretsKeys ?? keptKeys(paths.secretsKey) };
}

/** The keys in the file, one per line. */
function keptKeys(file: string): Buffer[] {
  const keys = keys32(keptText(file, () => randomBytes(32).toString('base64')));
  if ('value' in keys) return keys.value;
  throw new Error(`${file} ${keys.mistake}; restore it from your backup`);
}

/** The text in a file, which is created when it does not exist. Two processes that start at once get the same text. */
function keptText(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${make()}\n`, { mode: 0o600, flush: true });
    try {
      // link, unlike rename, fails when the file exists; and the file is never partly written.
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft);
    }
  }
  return readFileSync(file, 'utf8').trim();
}
