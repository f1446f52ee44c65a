import fs from 'node:fs';
import path from 'node:path';
import { writeArchive } from './release/archive.ts';
import { writeImageContext } from './release/image-context.ts';
import { writeNpmPackages } from './release/npm-packages.ts';
import { writePythonPackages } from './release/python-packages.ts';
import { writeSums } from './release/sums.ts';

// Writes the files of a release (docs/install.md). The same commit gives the same bytes with the same Node, npm and
// Python. Nothing is published here: .github/workflows/release.yml does that.

const ROOT = path.join(import.meta.dirname, '..');

const PARTS: Record<string, (folder: string) => void | Promise<void>> = {
  npm: writeNpmPackages,
  python: writePythonPackages,
  image: writeImageContext,
  archive: writeArchive,
};

if (import.meta.main) {
  // npm packs the modes of the files that are built.
  process.umask(0o022);
  await writeRelease(path.join(ROOT, 'dist/release'), process.argv.slice(2));
}

/**
 * Writes the named parts, or all, and SHA256SUMS of what is then in the folder. Only a release of all parts empties the
 * folder before.
 */
async function writeRelease(folder: string, named: string[]): Promise<void> {
  const unknown = named.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined)
    throw new Error(`There is no part ${unknown}; there are: ${Object.keys(PARTS).join(', ')}`);
  if (named.length === 0) fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const name of named.length > 0 ? named : Object.keys(PARTS)) await PARTS[name]!(folder);
  process.stdout.write(writeSums(folder));
}
