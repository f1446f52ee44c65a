import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { attributionFrom, describeSource, type Model, ModelError, type ModelSource } from './model.ts';

/** Stored beside a model's files: their origin and digests. */
export type Manifest = {
  name: string;
  family: string;
  source: string;
  licence: string;
  attribution: string;
  pulledAt: string;
  /** Measured on the stored bytes. */
  files: { path: string; sizeBytes: number; sha256: string }[];
};

const MANIFEST = 'manifest.json';

/** Folder of unfinished pulls and removals; the leading dot keeps it out of the list of models. */
export function partialDir(modelsDir: string): string {
  return path.join(modelsDir, '.partial');
}

/**
 * Names of the pulled models. Their folders are complete, because renaming is the last step of a pull.
 * @throws ModelError  `unreadable`, when the models folder exists and is unreadable
 */
export async function pulledModels(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true }).catch(emptyWhenMissing(modelsDir));
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/**
 * A missing folder has no models. Any other error is reported, because starting without models would use a worse
 * engine.
 */
function emptyWhenMissing(folder: string): (error: NodeJS.ErrnoException) => [] {
  return (error) => {
    if (error.code === 'ENOENT') return [];
    const message = `The folder ${folder} cannot be read (${error.code}). Let the service's user read it.`;
    throw new ModelError('unreadable', message, { cause: error });
  };
}

export async function isPulled(modelsDir: string, name: string): Promise<boolean> {
  const found = await stat(path.join(modelsDir, name)).catch(() => null);
  return found?.isDirectory() ?? false;
}

/**
 * Moves the pulled files to their final folder. A crash leaves either no folder of that name or a complete one.
 * @param partial  folder below `.partial`
 * @param source  of the model's
 */
export async function putInPlace(
  model: Model,
  source: ModelSource,
  { partial, modelsDir }: { partial: string; modelsDir: string },
  files: Manifest['files'],
) {
  const { name, family, licence } = model;
  const attribution = attributionFrom(model, source);
  const pulledAt = new Date().toISOString();
  const manifest: Manifest = { name, family, source: describeSource(source), licence, attribution, pulledAt, files };
  const file = path.join(partial, MANIFEST);
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  await sync(file);
  await sync(partial);
  await rename(partial, path.join(modelsDir, name));
  await sync(modelsDir);
}

/** The origin of the files in the folder of a pulled model. */
export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8')) as Manifest;
}

/** @throws ModelError  `not_pulled`, when there is no such folder */
export async function removeModel(name: string, modelsDir: string): Promise<void> {
  const isName = /^[\w][\w.-]*$/.test(name);
  if (!isName || !(await isPulled(modelsDir, name))) {
    throw new ModelError('not_pulled', `There is no model ${name} in ${modelsDir}.`);
  }
  const removed = path.join(partialDir(modelsDir), `removed-${name}`);
  await mkdir(partialDir(modelsDir), { recursive: true });
  await rm(removed, { recursive: true, force: true });
  // One rename first, so that a service that starts now does not find an incomplete model.
  await rename(path.join(modelsDir, name), removed);
  await sync(modelsDir);
  await rm(removed, { recursive: true, force: true });
}

async function sync(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
