import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { IS_SNAPSHOT, ROOT } from '../../platform/installation.ts';
import { readOnce } from '../../platform/read-at-most-every.ts';
import { BEST_QUALITY, bundleConsole, type ConsoleBundle, type ConsoleFile, contentTypeOf } from './console-bundle.ts';

/** Where the bundle is kept; git ignores it. */
export const CONSOLE_FOLDER = path.join(ROOT, 'console/dist');

/** A load of the console that several listeners share: it reads or bundles once. */
export type LoadConsole = () => Promise<ConsoleBundle>;

/**
 * Loads the console from the folder of a package, an image or a snapshot. Without one it is bundled in memory, and in a
 * snapshot, whose files never change, kept for the next start.
 */
export function openConsole(folder = CONSOLE_FOLDER, { isKept = IS_SNAPSHOT } = {}): LoadConsole {
  return readOnce(async () => {
    const built = readConsole(folder);
    if (built) return built;
    if (!isKept) return bundleConsole();
    const bundle = await bundleConsole(BEST_QUALITY);
    await keepConsole(folder, bundle);
    return bundle;
  });
}

/** Whether the first visitor would wait for a bundle that can be kept. */
export function isConsoleMissing(): boolean {
  return IS_SNAPSHOT && !existsSync(CONSOLE_FOLDER);
}

/** The bundle that was written into the folder; null without one. */
function readConsole(folder: string): ConsoleBundle | null {
  if (!existsSync(path.join(folder, 'index.html'))) return null;
  const read = (name: string) => readFileSync(path.join(folder, name));
  const names = readdirSync(folder).filter((name) => contentTypeOf(name) !== null);
  const files = names.map((name): [string, ConsoleFile] => [
    name,
    { contentType: contentTypeOf(name)!, identity: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) },
  ]);
  return { page: read('index.html').toString(), files: new Map(files) };
}

/** Writes the bundle into a folder, which gets its name when all of it is on the disk: it is whole or absent. */
async function writeConsole(folder: string, { page, files }: ConsoleBundle): Promise<void> {
  const making = `${folder}.${process.pid}`;
  try {
    mkdirSync(making, { recursive: true });
    const write = (name: string, content: Buffer | string) => writeDurably(path.join(making, name), content);
    for (const [name, { identity, br, gzip }] of files) {
      await Promise.all([write(name, identity), write(`${name}.br`, br), write(`${name}.gz`, gzip)]);
    }
    await write('index.html', page);
    await rename(making, folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function writeDurably(file: string, content: Buffer | string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Another process may have been faster, and the snapshot may belong to another user. */
async function keepConsole(folder: string, bundle: ConsoleBundle): Promise<void> {
  await writeConsole(folder, bundle).catch(() => undefined);
}

/** Writes the bundle in place of the one before. Resolves to the number of files. */
export async function buildConsole(folder: string): Promise<number> {
  const bundle = await bundleConsole(BEST_QUALITY);
  rmSync(folder, { recursive: true, force: true });
  await writeConsole(folder, bundle);
  return bundle.files.size + 1;
}
