import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleConsole, PREBUILT_FOLDER } from '../src/http/service/console-bundle.ts';

// Writes the console's bundle, compressed, into console/dist, where the service reads it in place of bundling. For
// container images and packages; after a change of the console run it again, or delete the folder.

const BEST_QUALITY = 11;

const { page, files } = await bundleConsole(BEST_QUALITY);
rmSync(PREBUILT_FOLDER, { recursive: true, force: true });
mkdirSync(PREBUILT_FOLDER);
const write = (name: string, content: Buffer | string) => writeFileSync(path.join(PREBUILT_FOLDER, name), content);
for (const [name, { identity, br, gzip }] of files) {
  write(name, identity);
  write(`${name}.br`, br);
  write(`${name}.gz`, gzip);
}
write('index.html', page);
process.stdout.write(`${files.size + 1} files in ${path.relative(process.cwd(), PREBUILT_FOLDER)}\n`);
