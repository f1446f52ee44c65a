import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import entryPoints from '../../bin/entry-points.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };

// The files of a bundle are in one folder (bin/prepare/bundle.js).
const IS_BUNDLED = import.meta.filename.endsWith('.js');

/**
 * The project's folder, or the snapshot of it that the bundle is in. A module finds its files from here: its own place
 * differs in a bundle.
 */
export const ROOT = findRoot(import.meta.dirname);

/** Whether the files are a copy that is made for this bundle and never changes (bin/prepare/bundle.js). */
export const IS_SNAPSHOT = IS_BUNDLED && ROOT === import.meta.dirname;

/** The version of the service. */
export const VERSION: string = manifest.version;

/**
 * The module that a process or a thread starts with: a file of the same bundle, or the source.
 * @param name  of bin/entry-points.json, which says what is bundled
 */
export function entryPoint(name: keyof typeof entryPoints): URL {
  if (IS_BUNDLED) return new URL(`./${name}.js`, import.meta.url);
  return pathToFileURL(path.join(ROOT, entryPoints[name]));
}

/** A snapshot has this file too; the bundle of an image or a published package is in a folder of the project. */
function findRoot(folder: string): string {
  return existsSync(path.join(folder, 'bin/entry-points.json')) ? folder : findRoot(path.dirname(folder));
}
