import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { claimDirectory, DirectoryTakenError } from '../../db/embedded/folder-lock.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { CATALOGUE, findModel } from '../catalogue.ts';
import { isPulled, type Manifest, partialDir, putInPlace } from '../folder.ts';
import { filesFrom, type Model, ModelError, type ModelSource, sizeOfModel } from '../model.ts';
import type { ExpectedFile } from '../sources/expected-file.ts';
import { type OpenedSource, openSource } from '../sources/open-source.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import { copyModel } from './copy.ts';
import { downloadChecked } from './download.ts';

export type PullProgress = {
  /** The current file. */
  file: string;
  /** Of all files together. */
  doneBytes: number;
  totalBytes: number;
};

export type PullOptions = {
  modelsDir: string;
  origins: ModelOrigins;
  /** Folders of models on this machine: one that is there is linked or copied in place of a download. */
  copies?: readonly string[];
  onProgress?(progress: PullProgress): void;
  /** Ends the pull; the bytes so far are kept and the next pull resumes. */
  signal?: AbortSignal;
  /** Whether a pull that the signal ends removes the bytes so far. */
  discardsAborted?: boolean;
  catalogue?: readonly Model[];
  clock?: Clock;
  stallMs?: number;
  /** Free space on the disk of a folder. */
  freeBytes?(folder: string): Promise<number>;
};

/** `copied`: from another folder of this machine. */
export type Pulled = { kind: 'pulled' | 'copied' | 'already'; folder: string };

const RECURSIVE = { recursive: true, force: true };
const STALL_MS = 30_000;
// Disk space that a pull leaves free for the database and uploads.
const SPARE_BYTES = 200 * 2 ** 20;

/**
 * Pulls a model into `<modelsDir>/<name>`, from the first of its sources that works. Resumes an earlier pull, checks
 * the size and SHA-256 of each file, and renames the folder when it is complete and synced.
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
    if (await copyModel(model, options)) return { kind: 'copied', folder };
    await fetchModel(model, { ...options, signal });
  } catch (error) {
    // Under the lock: later the bytes may be those of another process.
    if (options.discardsAborted && signal.aborted) await rm(path.join(partialDir(modelsDir), name), RECURSIVE);
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    const message = `The disk of ${modelsDir} became full. ${name} needs ${inMegabytes(sizeOfModel(model))} MB: make room.`;
    throw new ModelError('no_space', message, { cause: error });
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
  const failures: ModelError[] = [];
  for (const source of model.sources) {
    try {
      return await fetchFrom(source, model, options);
    } catch (error) {
      if (!(error instanceof ModelError) || error.problem === 'no_space') throw error;
      failures.push(error);
    }
  }
  const [first, ...others] = failures;
  if (others.length === 0) throw first!;
  throw new ModelError(first!.problem, failures.map(({ message }) => message).join(' '), { cause: first });
}

async function fetchFrom(
  source: ModelSource,
  model: Model,
  options: PullOptions & { signal: AbortSignal },
): Promise<void> {
  const { modelsDir, origins, signal } = options;
  const opened = await openSource(model, source, origins, signal);
  const partial = path.join(partialDir(modelsDir), model.name);
  await mkdir(partial, { recursive: true });
  await removeOtherFiles(partial, opened.files);
  await requireSpace(model, partial, { source, opened }, options.freeBytes);

  const totalBytes = opened.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const digests = new Map<string, string>();
  let beforeBytes = 0;
  for (const file of opened.files) {
    const sha256 = await downloadChecked(file, {
      target: path.join(partial, file.path),
      onBytes: (bytes) => options.onProgress?.({ file: file.path, doneBytes: beforeBytes + bytes, totalBytes }),
      stallMs: options.stallMs ?? STALL_MS,
      clock: options.clock ?? systemClock,
      signal,
    });
    beforeBytes += file.sizeBytes;
    digests.set(file.path, sha256);
  }
  await opened.unpack(partial);
  const files: Manifest['files'] = filesFrom(model, source).map(({ path: name, sizeBytes, sha256 }) => {
    // What was unpacked has been checked against the catalogue.
    return { path: name, sizeBytes, sha256: digests.get(name) ?? sha256! };
  });
  await putInPlace(model, source, { partial, modelsDir }, files);
}

/** Removes files of an earlier revision. */
async function removeOtherFiles(partial: string, expected: ExpectedFile[]): Promise<void> {
  const wanted = new Set(expected.map((file) => path.normalize(file.path)));
  const entries = await readdir(partial, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(entry.parentPath, entry.name));
  const others = files.filter((file) => !wanted.has(path.relative(partial, file)));
  await Promise.all(others.map((file) => rm(file)));
}

async function requireSpace(
  model: Model,
  partial: string,
  { source, opened }: { source: ModelSource; opened: OpenedSource },
  freeBytesOf = freeBytesOnDisk,
): Promise<void> {
  const files = filesFrom(model, source);
  const sizes = await Promise.all(opened.files.map((file) => sizeOf(path.join(partial, file.path))));
  const archiveBytes = opened.files.some(({ path: name }) => files.every((file) => file.path !== name))
    ? sizeOfModel(opened)
    : 0;
  const neededBytes =
    sizeOfModel({ files }) + archiveBytes + opened.spareBytes - sizes.reduce((sum, size) => sum + size, 0);
  const freeBytes = await freeBytesOf(partial);
  if (freeBytes >= neededBytes + SPARE_BYTES) return;
  const [needed, spare, free] = [neededBytes, SPARE_BYTES, freeBytes].map(inMegabytes);
  const place = path.dirname(path.dirname(partial));
  const message = `${model.name} needs ${needed} MB in ${place}, and ${spare} MB more stay free there; ${free} MB are free.`;
  throw new ModelError('no_space', message);
}

async function freeBytesOnDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
