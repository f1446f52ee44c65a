import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Model } from './model.ts';
import { ModelError } from './model.ts';

/** Kept beside a model's files, as proof of what they are. */
export type Manifest = {
  name: string;
  family: string;
  repository: string;
  revision: string;
  licence: string;
  attribution: string;
  pulledAt: string;
  /** As measured on the bytes that were kept. */
  files: { path: string; sizeBytes: number; sha256: string }[];
};

const MANIFEST = 'manifest.json';

/** Where pulls gather and removals end; begins with a dot, so that no one takes it for a model. */
export function partialDir(modelsDir: string): string {
  return path.join(modelsDir, '.partial');
}

/**
 * Names of the models that are there. A folder that is there is whole: it got its name as the last step of its pull.
 * @throws ModelError  `unreadable`, when the models folder is there and cannot be read
 */
export async function pulledModels(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true }).catch(noneUnlessUnreadable(modelsDir));
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** What is not there holds nothing; everything else must be mended: going on without models would be a worse engine. */
function noneUnlessUnreadable(folder: string): (error: NodeJS.ErrnoException) => [] {
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

/** What a model's folder says of itself; null for one that was put there by hand. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(path.join(folder, MANIFEST), 'utf8')) as Manifest;
  } catch {
    return null;
  }
}

/**
 * Gives the gathered files their place. A crash at any instant leaves either no folder of that name or a whole one.
 * @param gathered  folder below `.partial`
 */
export async function putInPlace(model: Model, gathered: string, modelsDir: string, files: Manifest['files']) {
  const { name, family, repository, revision, licence, attribution } = model;
  const pulledAt = new Date().toISOString();
  const manifest: Manifest = { name, family, repository, revision, licence, attribution, pulledAt, files };
  const file = path.join(gathered, MANIFEST);
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  await sync(file);
  await sync(gathered);
  await rename(gathered, path.join(modelsDir, name));
  await sync(modelsDir);
}

/** @throws ModelError  `not_pulled`, when there is no such folder */
export async function removeModel(name: string, modelsDir: string): Promise<void> {
  const isName = /^[\w][\w.-]*$/.test(name);
  if (!isName || !(await isPulled(modelsDir, name))) {
    throw new ModelError('not_pulled', `There is no model ${name} in ${modelsDir}.`);
  }
  const doomed = path.join(partialDir(modelsDir), `removed-${name}`);
  await mkdir(partialDir(modelsDir), { recursive: true });
  await rm(doomed, { recursive: true, force: true });
  // Out of sight in one step: a service that starts meanwhile never sees half of it.
  await rename(path.join(modelsDir, name), doomed);
  await sync(modelsDir);
  await rm(doomed, { recursive: true, force: true });
}

async function sync(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
