import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { claimDirectory, DirectoryTakenError } from '../db/embedded/folder-lock.ts';
import type { Clock } from '../platform/clock.ts';
import { systemClock } from '../platform/clock.ts';
import { CATALOGUE, findModel } from './catalogue.ts';
import { downloadChecked } from './download.ts';
import type { Manifest } from './folder.ts';
import { isPulled, partialDir, putInPlace } from './folder.ts';
import type { ExpectedFile } from './hub.ts';
import { expectFiles, openFile } from './hub.ts';
import type { Model } from './model.ts';
import { ModelError, sizeOfModel } from './model.ts';

const HUB_URL = 'https://huggingface.co';

export type PullProgress = {
  /** The file under way. */
  file: string;
  /** Of the whole model. */
  doneBytes: number;
  totalBytes: number;
};

export type PullOptions = {
  modelsDir: string;
  /** Address of a hub, without a slash at its end. */
  hubUrl?: string;
  onProgress?(progress: PullProgress): void;
  /** Ends the pull; what came so far is kept, and the next pull goes on there. */
  signal?: AbortSignal;
  catalogue?: readonly Model[];
  clock?: Clock;
  stallMs?: number;
};

export type Pulled = { kind: 'pulled' | 'already'; folder: string };

const STALL_MS = 30_000;
// What a pull leaves free, for the database and recordings beside it.
const SPARE_BYTES = 200 * 2 ** 20;

/**
 * Fetches a model from the hub into `<modelsDir>/<name>`: resumed after a break, each file's size and SHA-256 checked, the
 * folder given its name only when it is whole and on the disk.
 * @throws ModelError  saying what to do; or the signal's reason
 */
export async function pullModel(name: string, options: PullOptions): Promise<Pulled> {
  const { modelsDir, signal = new AbortController().signal } = options;
  const model = findModel(name, options.catalogue ?? CATALOGUE);
  const folder = path.join(modelsDir, name);
  if (await isPulled(modelsDir, name)) return { kind: 'already', folder };
  await mkdir(partialDir(modelsDir), { recursive: true, mode: 0o700 });
  const claim = claimPulls(modelsDir);
  try {
    // Another process may have ended its pull while this one came to the claim.
    if (await isPulled(modelsDir, name)) return { kind: 'already', folder };
    await fetchModel(model, { ...options, signal });
  } finally {
    claim.release();
  }
  return { kind: 'pulled', folder };
}

/** One pull at a time in a folder of models, so that no two write the same part. */
function claimPulls(modelsDir: string): { release(): void } {
  try {
    return claimDirectory(partialDir(modelsDir));
  } catch (cause) {
    if (!(cause instanceof DirectoryTakenError)) throw cause;
    throw new ModelError('busy', `Another process is pulling a model into ${modelsDir}. Wait for its end.`, { cause });
  }
}

async function fetchModel(model: Model, options: PullOptions & { signal: AbortSignal }): Promise<void> {
  const { modelsDir, hubUrl = HUB_URL, signal } = options;
  const expected = await expectFiles(model, hubUrl, signal);
  const gathered = path.join(partialDir(modelsDir), model.name);
  await mkdir(gathered, { recursive: true });
  await dropOthers(gathered, expected);
  await requireSpace(model, gathered, expected);

  const files: Manifest['files'] = [];
  let beforeBytes = 0;
  for (const file of expected) {
    const sha256 = await downloadChecked(file, {
      target: path.join(gathered, file.path),
      openAt: openFile(model, file, hubUrl),
      onBytes: (bytes) =>
        options.onProgress?.({ file: file.path, doneBytes: beforeBytes + bytes, totalBytes: sizeOfModel(model) }),
      stallMs: options.stallMs ?? STALL_MS,
      clock: options.clock ?? systemClock,
      signal,
    });
    beforeBytes += file.sizeBytes;
    files.push({ path: file.path, sizeBytes: file.sizeBytes, sha256 });
  }
  await putInPlace(model, gathered, modelsDir, files);
}

/** Files of an earlier revision have no place in the folder. */
async function dropOthers(gathered: string, expected: ExpectedFile[]): Promise<void> {
  const wanted = new Set(expected.map((file) => path.normalize(file.path)));
  const entries = await readdir(gathered, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(entry.parentPath, entry.name));
  const others = files.filter((file) => !wanted.has(path.relative(gathered, file)));
  await Promise.all(others.map((file) => rm(file)));
}

async function requireSpace(model: Model, gathered: string, expected: ExpectedFile[]): Promise<void> {
  const there = await Promise.all(expected.map((file) => sizeOf(path.join(gathered, file.path))));
  const neededBytes = sizeOfModel(model) - there.reduce((sum, size) => sum + size, 0) + SPARE_BYTES;
  const { bavail, bsize } = await statfs(gathered);
  if (bavail * bsize >= neededBytes) return;
  const [needed, free] = [neededBytes, bavail * bsize].map((bytes) => Math.ceil(bytes / 1e6));
  const message = `${model.name} needs ${needed} MB in ${path.dirname(path.dirname(gathered))}; ${free} MB are free.`;
  throw new ModelError('no_space', message);
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
