import fs from 'node:fs';
import path from 'node:path';

/** A link of pg-symlinks.json; both paths begin in the folder of the package. */
type Link = { source: string; target: string };

/**
 * The environment of PostgreSQL's processes: without the service's variables, which hold secrets.
 *
 * PostgreSQL needs its libraries under names that are links. npm packages have no links; the install script of this one
 * would create them, and is not run. They are created here: in the package, or in `dir` where the package cannot be
 * written to.
 * @param dir  folder of the database
 * @param packageFolder  of the embedded PostgreSQL
 * @throws Error  on macOS when the package cannot be written to: initdb starts PostgreSQL through a shell, which
 *                removes the variable for libraries there
 */
export function postgresEnvironment(dir: string, packageFolder: string): Record<string, string> {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
  const links: Link[] = JSON.parse(fs.readFileSync(path.join(packageFolder, 'native/pg-symlinks.json'), 'utf8'));
  try {
    for (const { source, target } of links) link(path.basename(source), path.join(packageFolder, target));
    return environment;
  } catch (cause) {
    if (!isForbidden(cause)) throw cause;
    if (process.platform !== 'linux') {
      throw new Error(`Start the service once as the owner of ${packageFolder}, which has to be completed.`, { cause });
    }
  }
  const folder = path.join(dir, 'lib');
  fs.mkdirSync(folder, { recursive: true });
  for (const { source, target } of links) {
    link(path.join(packageFolder, source), path.join(folder, path.basename(target)));
  }
  return { ...environment, LD_LIBRARY_PATH: folder };
}

/** Creates the link unless it is there, as another process may have done meanwhile. */
function link(to: string, file: string): void {
  if (readLink(file) === to) return;
  const draft = `${file}.${process.pid}`;
  fs.symlinkSync(to, draft);
  fs.renameSync(draft, file);
}

function readLink(file: string): string | null {
  try {
    return fs.readlinkSync(file);
  } catch {
    return null;
  }
}

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code));
}
