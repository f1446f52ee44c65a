import fs from 'node:fs';
import path from 'node:path';

/**
 * Where the programs and libraries of the system's packages lie. `folder` is a tree with bin/, lib/ and share/ (or the
 * same under usr/) that holds packages unpacked without root; null: only the system's own places.
 */
export type ToolPaths = { folder: string | null };

const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin'];
const SYSTEM_ROOTS = ['/usr', '/usr/local', '/opt/homebrew'];
const TRIPLETS = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
// Debian keeps these libraries in folders of their own and points at them with links that a package's files do not include.
const LIBRARY_CORNERS = ['blas', 'lapack', 'pulseaudio'];

/** The path of a program, or null when it is not there. */
export function findProgram(tools: ToolPaths, name: string): string | null {
  const folders = [...toolRoots(tools).map((root) => path.join(root, 'bin')), ...PROGRAM_FOLDERS];
  return folders.map((folder) => path.join(folder, name)).find(isFile) ?? null;
}

/** The first library that is there under one of these names, or null. */
export function findLibrary(tools: ToolPaths, names: string[]): string | null {
  const folders = [...toolRoots(tools), ...SYSTEM_ROOTS].flatMap(libraryFolders);
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find(isFile) ?? null;
}

/** The first folder `share/<name>` that is there, or null. */
export function findShared(tools: ToolPaths, name: string): string | null {
  const folders = [...toolRoots(tools), ...SYSTEM_ROOTS].map((root) => path.join(root, 'share', name));
  return folders.find((folder) => fs.existsSync(folder)) ?? null;
}

/** The environment of a tool's process: enough to run, and nothing of ours, which holds secrets. */
export function toolEnvironment(tools: ToolPaths): Record<string, string> {
  const environment: Record<string, string> = { PATH: PROGRAM_FOLDERS.join(':'), LC_ALL: 'C' };
  const folders = toolRoots(tools).flatMap(libraryFolders);
  if (folders.length > 0) environment['LD_LIBRARY_PATH'] = folders.join(':');
  return environment;
}

function toolRoots({ folder }: ToolPaths): string[] {
  return folder === null ? [] : [folder, path.join(folder, 'usr')];
}

function libraryFolders(root: string): string[] {
  const folders = [path.join(root, 'lib'), ...TRIPLETS.map((triplet) => path.join(root, 'lib', triplet))];
  const corners = folders.flatMap((folder) => LIBRARY_CORNERS.map((corner) => path.join(folder, corner)));
  return [...folders, ...corners].filter((folder) => fs.existsSync(folder));
}

function isFile(candidate: string): boolean {
  return fs.statSync(candidate, { throwIfNoEntry: false })?.isFile() ?? false;
}
