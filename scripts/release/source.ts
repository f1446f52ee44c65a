import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The folder of the project. */
export const ROOT = path.join(import.meta.dirname, '../..');

/** The version of the release. */
export const VERSION: string = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version;

/** The time that all files of a release have: of the commit, or SOURCE_DATE_EPOCH. In seconds. */
export function sourceSeconds(): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  return Number(given || git(['log', '-1', '--format=%ct']).trim());
}

/** The output of git in the project. */
export function git(args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}
