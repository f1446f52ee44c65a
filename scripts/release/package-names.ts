import fs from 'node:fs';
import path from 'node:path';

const { version } = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

/**
 * Whether the workflow of the release has published the packages. Until then their names in the registry may be
 * anybody's, and commands take the file of a release.
 */
const PUBLISHED = false;

const NOT_PUBLISHED = [
  "No registry has these packages yet, and their names there may be anybody's: `npm run release` in a clone",
  '[writes the files](#build-a-release), and each command takes a file.',
].join('\n');

/** What npm takes to install a package: its name, or the file of it in this folder. */
export function packageToInstall(name: string, published = PUBLISHED): string {
  return published ? `@verbatim/${name}` : `./verbatim-${name}-${version}.tgz`;
}

/** A page whose commands install the packages, in one form or the other, with the form that is right. */
export function withPackageNames(text: string, published = PUBLISHED): string {
  return text
    .replaceAll(
      /(npm install (?:--global )?|--package=)(?:\.\/verbatim-(\w+)-[\d.]+\.tgz|@verbatim\/(\w+))/g,
      (_all, command: string, file?: string, name?: string) => command + packageToInstall((file ?? name)!, published),
    )
    .replace(/(?:\n\nNo registry has [\s\S]*?)?(?=\n\n\| you want \|)/, published ? '' : `\n\n${NOT_PUBLISHED}`);
}
