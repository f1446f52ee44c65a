import fs from 'node:fs';
import path from 'node:path';
import { makeDurableFolder } from '../../platform/files/durable-names.ts';

/** A link of pg-symlinks.json; both paths begin in the folder of the package. */
type Link = { source: string; target: string };

/**
 * The environment of PostgreSQL's processes: without the service's variables, which hold secrets.
 *
 * PostgreSQL needs its libraries under names that are links. npm packages have no links; the install script of this one
 * would create them, and is not run. They are created here, in `dir`, since the package may be read-only. Not on macOS:
 * initdb starts PostgreSQL through a shell, which removes the variable for libraries there, so that the links have to
 * be in the package.
 * @param dir  folder of the database
 * @param packageFolder  of the npm package; null for the machine's own PostgreSQL, which finds its libraries
 */
export function postgresEnvironment(dir: string, packageFolder: string | null): Record<string, string> {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
  if (packageFolder === null) return environment;
  const links: Link[] = JSON.parse(fs.readFileSync(path.join(packageFolder, 'native/pg-symlinks.json'), 'utf8'));
  if (process.platform === 'darwin') {
    for (const { source, target } of links) link(path.basename(source), path.join(packageFolder, target));
    return environment;
  }
  const folder = path.join(dir, 'lib');
  makeDurableFolder(folder, { mode: 0o755 });
  for (const { source, target } of links) {
    link(path.join(packageFolder, source), path.join(folder, path.basename(target)));
  }
  // A library that is found by its link looks for others beside the link.
  return { ...environment, LD_LIBRARY_PATH: `${folder}:${path.join(packageFolder, 'native/lib')}` };
}

/** Creates or replaces the link, unless it is there. */
function link(to: string, file: string): void {
  if (readLink(file) === to) return;
  fs.rmSync(file, { force: true });
  fs.symlinkSync(to, file);
}

function readLink(file: string): string | null {
  try {
    return fs.readlinkSync(file);
  } catch {
    return null;
  }
}
