import { spawnSync } from 'node:child_process';
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

/** What parts need beside Node, how it is found, and how to get it. */
const NEEDED: { part: string; command: [string, ...string[]]; advice: string }[] = [
  { part: 'npm', command: ['npm', '--version'], advice: 'npm' },
  {
    part: 'python',
    command: [process.env['PYTHON_SDK'] || 'python3', '-c', 'import hatchling'],
    advice: 'hatchling (python3 -m pip install hatchling)',
  },
  ...(process.platform === 'linux'
    ? [
        { part: 'archive', command: ['apt-get', '--version'] as [string, string], advice: 'apt-get' },
        { part: 'archive', command: ['dpkg-deb', '--version'] as [string, string], advice: 'dpkg-deb' },
        {
          part: 'archive',
          command: ['dpkg-source', '--version'] as [string, string],
          advice: 'dpkg-source (dpkg-dev)',
        },
        {
          part: 'archive',
          command: ['make', '--version'] as [string, string],
          advice: 'make and gcc (build-essential)',
        },
        { part: 'archive', command: ['nasm', '--version'] as [string, string], advice: 'nasm' },
        { part: 'archive', command: ['xz', '--version'] as [string, string], advice: 'xz (xz-utils)' },
      ]
    : []),
];

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
  const parts = named.length > 0 ? named : Object.keys(PARTS);
  requirePrograms(parts);
  if (named.length === 0) fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const name of parts) await PARTS[name]!(folder);
  process.stdout.write(writeSums(folder));
}

/** @throws Error  that names everything that is missing, before anything is written */
function requirePrograms(parts: string[]): void {
  const missing = NEEDED.filter(({ part, command: [program, ...args] }) => {
    return parts.includes(part) && spawnSync(program, args, { stdio: 'ignore' }).status !== 0;
  });
  if (missing.length === 0) return;
  const list = missing.map(({ part, advice }) => `${part} needs ${advice}`).join('; ');
  throw new Error(`The release cannot be made here: ${list}. Or name other parts: ${Object.keys(PARTS).join(', ')}.`);
}
