import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';

// Builds the npm package: plain JavaScript with declaration files. The project itself runs the TypeScript.

const ROOT = path.join(import.meta.dirname, '..');
const SDK = path.join(ROOT, 'sdk');
const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');
// A chunk apart from the receivers, so that bundlers can leave out what those import, which is the debugger of
// signatures.
const VERIFICATION = './src/webhooks/web-signature.ts';
const COPIED = ['README.md', 'vectors.json'];

if (import.meta.main) {
  const folder = path.resolve(process.argv[2] ?? path.join(SDK, 'dist'));
  buildSdk(folder);
  process.stdout.write(`Publish it with: npm publish ${folder}\n`);
}

/** Writes the package into the folder, after deleting the folder's contents. */
export function buildSdk(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  writeDeclarations(folder);
  bundle(folder);
  for (const name of COPIED) fs.copyFileSync(path.join(SDK, name), path.join(folder, name));
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
}

function writeDeclarations(folder: string): void {
  const options = ['--emitDeclarationOnly', '--outDir', folder];
  execFileSync(process.execPath, [TSC, '-p', path.join(SDK, 'tsconfig.json'), ...options], { stdio: 'inherit' });
}

/**
 * Writes a file for each entry of the manifest, and shared chunks: a file for each module would load in twice the time.
 */
function bundle(folder: string): void {
  const { exports, imports } = readManifest();
  // Source maps name the sources by their place beside this folder, wherever the package is written.
  const outdir = path.join(SDK, 'dist');
  const { outputFiles } = buildSync({
    absWorkingDir: SDK,
    entryPoints: [...filesOf([exports, imports]).filter((file) => file.endsWith('.ts')), VERIFICATION],
    outdir,
    write: false,
    outbase: path.join(SDK, 'src'),
    chunkNames: 'chunks/[name]-[hash]',
    // The conditions of package.json choose between these at the user's place.
    external: [...Object.keys(imports), 'node:*'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    sourcemap: true,
    logLevel: 'warning',
  });
  for (const { path: file, contents } of outputFiles) {
    const place = path.join(folder, path.relative(outdir, file));
    fs.mkdirSync(path.dirname(place), { recursive: true });
    fs.writeFileSync(place, contents);
  }
}

function readManifest() {
  return JSON.parse(fs.readFileSync(path.join(SDK, 'package.json'), 'utf8'));
}

/** The manifest, in which the TypeScript is replaced by what was compiled from it. */
function publishedManifest(): object {
  const { private: _, exports, imports, ...manifest } = readManifest();
  return {
    ...manifest,
    engines: { node: '>=20' },
    sideEffects: false,
    imports: mapStrings(imports, compiled),
    exports: mapStrings(exports, (file) =>
      file.endsWith('.ts') ? { types: compiled(file).replace(/js$/, 'd.ts'), default: compiled(file) } : file,
    ),
  };
}

function compiled(file: string): string {
  return file.replace('./src/', './').replace(/ts$/, 'js');
}

function mapStrings(value: unknown, map: (text: string) => unknown): unknown {
  if (typeof value === 'string') return map(value);
  return Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, mapStrings(each, map)]));
}

/** All strings in a value. */
function filesOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : Object.values(value as object).flatMap(filesOf);
}
