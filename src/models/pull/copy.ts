import { constants, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isPulled, partialDir } from '../folder.ts';
import { filesFrom, type Model } from '../model.ts';

const MANIFEST = 'manifest.json';

/**
 * Links the files of a model that another folder of this machine has, or copies them where the folders are on different
 * disks. Call it under the lock of the pulls. False where no folder has the model.
 */
export async function copyModel(
  model: Model,
  { modelsDir, copies = [] }: { modelsDir: string; copies?: readonly string[] },
): Promise<boolean> {
  for (const folder of copies) {
    const from = path.join(folder, model.name);
    if (path.resolve(folder) === path.resolve(modelsDir)) continue;
    if (!(await isPulled(folder, model.name)) || !(await isWhole(model, from))) continue;
    await copyFolder(from, model, modelsDir);
    return true;
  }
  return false;
}

/** Whether it has the files of one of the catalogue's sources: the copy may be of an older release. */
async function isWhole(model: Model, folder: string): Promise<boolean> {
  const sizes = new Map<string, number>();
  for (const file of model.files) {
    const found = await stat(path.join(folder, file.path)).catch(() => null);
    if (found) sizes.set(file.path, found.size);
  }
  return model.sources.some((source) =>
    filesFrom(model, source).every((file) => sizes.get(file.path) === file.sizeBytes),
  );
}

/** As a pull does: the folder gets its name when its files are on disk. */
async function copyFolder(from: string, model: Model, modelsDir: string): Promise<void> {
  const partial = path.join(partialDir(modelsDir), model.name);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  for (const name of [...model.files.map((file) => file.path), MANIFEST]) {
    await linkOrCopy(path.join(from, name), path.join(partial, name));
  }
  await rename(partial, path.join(modelsDir, model.name));
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    // Another disk, a file system without links, or a file of another user.
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await using copied = await open(to, 'r');
    await copied.sync();
  }
}
