import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import entryPoints from '../../../bin/entry-points.json' with { type: 'json' };
import { entryPoint, ROOT } from '../installation.ts';

const require = createRequire(import.meta.url);

// One package stands for all: npm removes all of them at once.
const FILES = [
  process.execPath,
  ...(Object.keys(entryPoints) as (keyof typeof entryPoints)[]).map((name) => fileURLToPath(entryPoint(name))),
  ...['assets', 'console', 'docs', 'src'].map((name) => path.join(ROOT, name)),
  require.resolve('pg'),
].filter((file) => existsSync(file));

/**
 * The reason why the service is not whole: a file is gone that was there at the start, such as when its folder was
 * deleted. It can then neither start processes nor load what it has not needed so far. Null when all are there.
 */
export function reasonOfMissingFile(files = FILES): string | null {
  const missing = files.find((file) => !existsSync(file));
  return missing === undefined ? null : `The service's file ${missing} was removed. Restart the service.`;
}
