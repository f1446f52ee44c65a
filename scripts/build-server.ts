import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { writePublished } from '../bin/prepare/bundle.js';
import { buildConsole } from '../src/http/service/console-files.ts';
import { filesOfImage } from './release/image-context.ts';
import { packageToInstall } from './release/package-names.ts';

// Builds the npm package of the service: the command line of a clone, with bundles in place of the sources. Nothing is
// compiled or written where the package is installed.

const ROOT = path.join(import.meta.dirname, '..');
/** The programs beside the service, as bin/main.js names them. */
const PROGRAMS = { cli: 'src/cli/main.ts', demo: 'src/demo/main.ts' };
/** What is bundled, or written anew. */
const NOT_COPIED = [
  '{cli,console,scripts,sdk/src}/**',
  '**/*.ts',
  '{package,package-lock}.json',
  '{sdk/package.json,.npmrc}',
];
const README = `# @verbatim/server

Verbatim is a transcription service that you run on your own machines, with durable jobs and signed webhooks.

    npx --package=${packageToInstall('server')} verbatim demo
    npx --package=${packageToInstall('server')} verbatim serve

\`demo\` transcribes a sample and shows the signed webhook; \`serve\` runs the service with its data in \`./data\`. Settings are
environment variables: \`docs/configuration.md\`. \`docs/\` has all pages; a running service shows them at \`/docs/\`.

It brings its own PostgreSQL. With a Node older than 24 it fetches Node 24 from npm. ffmpeg and bubblewrap come
from Debian's packages: as root they are installed with apt, otherwise unpacked into \`~/.cache/verbatim\`.
`;

if (import.meta.main) {
  const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist/server'));
  await buildServer(folder);
  process.stdout.write(`Publish it with: npm publish ${folder}\n`);
}

/** Writes the package into the folder, after deleting the folder's contents. */
export async function buildServer(folder: string): Promise<void> {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(path.join(folder, 'prebuilt'), { recursive: true });
  for (const file of filesToCopy()) fs.cpSync(path.join(ROOT, file), path.join(folder, file));
  writePublished(ROOT, path.join(folder, 'prebuilt'), PROGRAMS);
  await buildConsole(path.join(folder, 'console/dist'));
  // The pages of /docs/ share it.
  fs.cpSync(path.join(ROOT, 'console/styles/tokens.css'), path.join(folder, 'console/styles/tokens.css'));
  fs.writeFileSync(path.join(folder, 'README.md'), README);
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(folder), null, 2)}\n`);
  writeShrinkwrap(folder);
}

/** The files of an image, without the sources. */
function filesToCopy(): string[] {
  return filesOfImage().filter((file) => !NOT_COPIED.some((pattern) => path.matchesGlob(file, pattern)));
}

function manifest(folder: string): object {
  const project = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const { version, description, license, type, engines, bin, dependencies, optionalDependencies } = project;
  const needed = Object.entries(dependencies).filter(([name]) => isNeeded(name, path.join(folder, 'prebuilt')));
  return {
    name: '@verbatim/server',
    version,
    description,
    license,
    type,
    engines,
    bin,
    dependencies: Object.fromEntries(needed),
    optionalDependencies,
  };
}

/** Whether the bundle names the package. The console has been bundled with its packages, by esbuild. */
function isNeeded(name: string, bundle: string): boolean {
  // A colon follows in package.json, which the bundle contains.
  const named = new RegExp(`["'\`]${name.replaceAll('.', '\\.')}(/|["'\`](?!:))`);
  const texts = fs.readdirSync(bundle).map((file) => fs.readFileSync(path.join(bundle, file), 'utf8'));
  return name !== 'esbuild' && texts.some((text) => named.test(text));
}

/** Pins what the dependencies depend on, as the project's lock file does. npm leaves out what is not needed. */
function writeShrinkwrap(folder: string): void {
  const lock = path.join(folder, 'package-lock.json');
  fs.copyFileSync(path.join(ROOT, 'package-lock.json'), lock);
  const options = ['--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  fs.renameSync(lock, path.join(folder, 'npm-shrinkwrap.json'));
}
