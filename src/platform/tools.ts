import fs from 'node:fs';
import path from 'node:path';

/**
 * Where the programs of system packages are. `folder` is a tree with bin/ and lib/ (or the same under usr/) with
 * packages that were unpacked without root; null: only the system's own folders.
 */
export type ToolPaths = { folder: string | null };

const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin'];
const TRIPLETS = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
// Debian keeps these libraries in separate folders; the links to them are not among a package's files.
const LIBRARY_SUBFOLDERS = ['blas', 'lapack', 'pulseaudio'];

/** The path of a program; null when it is not installed. */
export function findProgram(tools: ToolPaths, name: string): string | null {
  const folders = [...toolRoots(tools).map((root) => path.join(root, 'bin')), ...PROGRAM_FOLDERS];
  return folders.map((folder) => path.join(folder, name)).find(isFile) ?? null;
}

/** The environment of a tool's process: without the service's variables, which hold secrets. */
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
  const subfolders = folders.flatMap((folder) => LIBRARY_SUBFOLDERS.map((subfolder) => path.join(folder, subfolder)));
  return [...folders, ...subfolders].filter((folder) => fs.existsSync(folder));
}

function isFile(candidate: string): boolean {
  return fs.statSync(candidate, { throwIfNoEntry: false })?.isFile() ?? false;
}
