import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleConsole, PREBUILT_FOLDER } from '../src/http/service/console-bundle.ts';

// Writes the console's bundle, compressed, into console/dist, where the service reads it in place of bundling. For
// container images and packages; after a change of the console run it again, or delete the folder.

const BEST_QUALITY = 11;

if (import.meta.main) {
  const count = await buildConsole(PREBUILT_FOLDER);
  process.stdout.write(`${count} files in ${path.relative(process.cwd(), PREBUILT_FOLDER)}\n`);
}

/** Writes the bundle into the folder, after deleting the folder's contents. Resolves to the number of files. */
export async function buildConsole(folder: string): Promise<number> {
  const { page, files } = await bundleConsole(BEST_QUALITY);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: Buffer | string) => writeFileSync(path.join(folder, name), content);
  for (const [name, { identity, br, gzip }] of files) {
    write(name, identity);
    write(`${name}.br`, br);
    write(`${name}.gz`, gzip);
  }
  write('index.html', page);
  return files.size + 1;
}
