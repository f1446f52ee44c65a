import path from 'node:path';
import { buildConsole, CONSOLE_FOLDER } from '../src/http/service/console-files.ts';

// Writes the console's bundle, compressed, into console/dist, where the service reads it in place of bundling. For
// container images; after a change of the console run it again, or delete the folder.

const count = await buildConsole(CONSOLE_FOLDER);
process.stdout.write(`${count} files in ${path.relative(process.cwd(), CONSOLE_FOLDER)}\n`);
