import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type Config, dataPaths } from '../config/settings.ts';
import { keys32, token } from '../config/values.ts';
import { requireWholeFolder } from '../db/backup/restore-folder.ts';
import { makeDurableFolder, syncFolder } from '../platform/files/durable-names.ts';
import { FolderError, openWritableFolder } from './writable-folder.ts';

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
 * Creates the data directory (0700) and returns the two secrets of the node: from the settings, else from the files
 * that the first start created (0600).
 * @throws UnfinishedRestoreError  if a restore into it has not ended
 * @throws FolderError  if this process cannot write to the directory
 * @throws Error            if the contents of a file are invalid
 */
export function prepareDataDir(config: Config): Secrets {
  requireWholeFolder(config.dataDir);
  openWritableFolder(config.dataDir);
  const paths = dataPaths(config.dataDir);
  openAudioFolder(paths.audio);
  makeDurableFolder(paths.models, { mode: 0o700 });
  return {
    adminToken: config.adminToken ?? keptToken(paths.adminToken),
    secretsKeys: config.secretsKeys ?? keptKeys(paths.secretsKey),
  };
}

/**
 * Writes where the service listens: the commands on this machine ask there (bin/running-service.js). Without the file
 * they ask at the usual port.
 */
export function keepAddress(config: Config, address: { url: string; operator_url: string }): void {
  const file = dataPaths(config.dataDir).address;
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, `${JSON.stringify({ pid: process.pid, ...address })}\n`);
  fs.renameSync(draft, file);
}

/** @throws FolderError  when it is a link to a folder that is not there */
function openAudioFolder(folder: string): void {
  try {
    makeDurableFolder(folder, { mode: 0o700 });
  } catch (cause) {
    const target = fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() ? fs.readlinkSync(folder) : null;
    if (target === null) throw cause;
    throw new FolderError(
      `${folder} is a link to ${target}, which is not there. Mount its disk, or make the folder.`,
      cause,
    );
  }
}

/** The operator's token in the file. */
function keptToken(file: string): string {
  const kept = token(keptText(file, () => randomBytes(32).toString('base64url')));
  if ('value' in kept) return kept.value;
  throw new Error(`${file} ${kept.mistake}; write one into it, or remove it: the next start makes one`);
}

/** The keys in the file, one per line. */
function keptKeys(file: string): Buffer[] {
  const keys = keys32(keptText(file, () => randomBytes(32).toString('base64')));
  if ('value' in keys) return keys.value;
  throw new Error(`${file} ${keys.mistake}; restore it from your backup`);
}

/**
 * The text in a file, which is created when it does not exist, and is durable before it is used. Two processes that
 * start at once get the same text.
 */
function keptText(file: string, make: () => string): string {
  if (!fs.existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    fs.writeFileSync(draft, `${make()}\n`, { mode: 0o600, flush: true });
    try {
      // link, unlike rename, fails when the file exists; and the file is never partly written.
      fs.linkSync(draft, file);
    } catch (error) {
      // Another process was first, and may have removed our draft.
      if (!fs.existsSync(file)) throw error;
    }
  }
  removeDrafts(file);
  // Also for a file that was there: the process that created it may have been killed before the sync.
  syncFolder(path.dirname(file));
  return fs.readFileSync(file, 'utf8').trim();
}

/** Drafts hold a secret, and outlive a process that was killed. Once the file exists, nobody needs one. */
function removeDrafts(file: string): void {
  const [folder, name] = [path.dirname(file), path.basename(file)];
  const drafts = fs.readdirSync(folder).filter((entry) => entry.startsWith(`${name}.`) && /\.\d+$/.test(entry));
  for (const draft of drafts) fs.rmSync(path.join(folder, draft), { force: true });
}
