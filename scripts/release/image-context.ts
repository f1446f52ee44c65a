import fs from 'node:fs';
import path from 'node:path';
import { git, ROOT, VERSION } from './source.ts';
import { writeTarball } from './tarball.ts';

/** Writes what `docker build - <` takes: the Dockerfile, and the files that it copies. */
export function writeImageContext(folder: string): void {
  const file = path.join(folder, `verbatim-image-${VERSION}.tar.gz`);
  writeTarball(file, ROOT, ['.dockerignore', 'Dockerfile', ...filesOfImage()]);
}

/**
 * The files of the project that the builder of the image gets, by the rules of .dockerignore:
 * the last one that matches counts.
 */
export function filesOfImage(): string[] {
  const ignored = fs.readFileSync(path.join(ROOT, '.dockerignore'), 'utf8');
  const rules = ignored.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const isSent = (file: string) => {
    const places = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    // Docker's * is also for names that begin with a dot.
    const matches = (rule: string) =>
      rule === '*' || places.some((place) => path.matchesGlob(place, rule.replace(/^!/, '')));
    return rules.findLast(matches)?.startsWith('!') ?? true;
  };
  return git(['ls-files', '--cached', '--others', '--exclude-standard'])
    .split('\n')
    .filter((file) => file !== '' && fs.existsSync(path.join(ROOT, file)) && isSent(file));
}
