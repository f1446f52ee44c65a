import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { claimDirectory, DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { CATALOGUE, findModel } from './catalogue.ts';
import { downloadChecked } from './download.ts';
import { isPulled, type Manifest, partialDir, putInPlace } from './folder.ts';
import { type ExpectedFile, expectFiles, openFile } from './hub.ts';
import { type Model, ModelError, sizeOfModel } from './model.ts';

const HUB_URL = 'https://huggingface.co';

export type PullProgress = {
  /** The current file. */
  file: string;
  /** Of all files together. */
  doneBytes: number;
  totalBytes: number;
};

export type PullOptions = {
  modelsDir: string;
  /** URL of a hub, without a trailing slash. */
  hubUrl?: string;
  onProgress?(progress: PullProgress): void;
  /** Ends the pull; the bytes so far are kept and the next pull resumes. */
  signal?: AbortSignal;
  /** Whether a pull that the signal ends removes the bytes so far. */
  discardsAborted?: boolean;
  catalogue?: readonly Model[];
  clock?: Clock;
  stallMs?: number;
};

export type Pulled = { kind: 'pulled' | 'already'; folder: string };

const RECURSIVE = { recursive: true, force: true };
const STALL_MS = 30_000;
// Disk space that a pull leaves free for the database and uploads.
const SPARE_BYTES = 200 * 2 ** 20;

/**
 * Pulls a model from the hub into `<modelsDir>/<name>`. Resumes an earlier pull, checks the size and SHA-256 of each
 * file, and renames the folder when it is complete and synced.
 * @throws ModelError  that says what to do; the signal's reason
 */
export async function pullModel(name: string, options: PullOptions): Promise<Pulled> {
  const { modelsDir, signal = new AbortController().signal } = options;
  const model = findModel(name, options.catalogue ?? CATALOGUE);
  const folder = path.join(modelsDir, name);
  if (await isPulled(modelsDir, name)) return { kind: 'already', folder };
  await mkdir(partialDir(modelsDir), { recursive: true, mode: 0o700 });
  const claim = claimPulls(modelsDir);
  try {
    // Another process may have completed this pull before the lock was acquired.
    if (await isPulled(modelsDir, name)) return { kind: 'already', folder };
    await fetchModel(model, { ...options, signal });
  } catch (error) {
    // Under the lock: later the bytes may be those of another process.
    if (options.discardsAborted && signal.aborted) await rm(path.join(partialDir(modelsDir), name), RECURSIVE);
    throw error;
  } finally {
    claim.release();
  }
  return { kind: 'pulled', folder };
}

/** Allows one pull at a time per models folder, so that no two processes write the same file. */
function claimPulls(modelsDir: string): { release(): void } {
  try {
    return claimDirectory(partialDir(modelsDir));
  } catch (cause) {
    if (!(cause instanceof DirectoryTakenError)) throw cause;
    throw new ModelError('busy', `Another process is pulling a model into ${modelsDir}. Wait until it has ended.`, {
      cause,
    });
  }
}

async function fetchModel(model: Model, options: PullOptions & { signal: AbortSignal }): Promise<void> {
  const { modelsDir, hubUrl = HUB_URL, signal } = options;
  const expected = await expectFiles(model, hubUrl, signal);
  const partial = path.join(partialDir(modelsDir), model.name);
  await mkdir(partial, { recursive: true });
  await removeOtherFiles(partial, expected);
  await requireSpace(model, partial, expected);

  const files: Manifest['files'] = [];
  let beforeBytes = 0;
  for (const file of expected) {
    const sha256 = await downloadChecked(file, {
      target: path.join(partial, file.path),
      openAt: openFile(file, hubUrl),
      onBytes: (bytes) =>
        options.onProgress?.({ file: file.path, doneBytes: beforeBytes + bytes, totalBytes: sizeOfModel(model) }),
      stallMs: options.stallMs ?? STALL_MS,
      clock: options.clock ?? systemClock,
      signal,
    });
    beforeBytes += file.sizeBytes;
    files.push({ path: file.path, sizeBytes: file.sizeBytes, sha256 });
  }
  await putInPlace(model, partial, modelsDir, files);
}

/** Removes files of an earlier revision. */
async function removeOtherFiles(partial: string, expected: ExpectedFile[]): Promise<void> {
  const wanted = new Set(expected.map((file) => path.normalize(file.path)));
  const entries = await readdir(partial, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(entry.parentPath, entry.name));
  const others = files.filter((file) => !wanted.has(path.relative(partial, file)));
  await Promise.all(others.map((file) => rm(file)));
}

async function requireSpace(model: Model, partial: string, expected: ExpectedFile[]): Promise<void> {
  const sizes = await Promise.all(expected.map((file) => sizeOf(path.join(partial, file.path))));
  const neededBytes = sizeOfModel(model) - sizes.reduce((sum, size) => sum + size, 0) + SPARE_BYTES;
  const { bavail, bsize } = await statfs(partial);
  if (bavail * bsize >= neededBytes) return;
  const [needed, free] = [neededBytes, bavail * bsize].map((bytes) => Math.ceil(bytes / 1e6));
  const message = `${model.name} needs ${needed} MB in ${path.dirname(path.dirname(partial))}; ${free} MB are free.`;
  throw new ModelError('no_space', message);
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
