import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const NAME = 'SHA256SUMS';

/** Writes the file for `sha256sum --check` with all files of the folder, and returns its text. */
export function writeSums(folder: string): string {
  const names = fs.readdirSync(folder).filter((name) => name !== NAME);
  const lines = names.sort().map((name) => `${sumOf(path.join(folder, name))}  ${name}\n`);
  fs.writeFileSync(path.join(folder, NAME), lines.join(''));
  return lines.join('');
}

function sumOf(file: string): string {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}
