import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { BuildFailure, Metafile, Plugin } from 'esbuild';
import { ROOT } from '../../platform/installation.ts';

/** A file of the console, as each content encoding sends it. */
export type ConsoleFile = { contentType: string; identity: Buffer; br: Buffer; gzip: Buffer };

/** The console as it is served: the page, and its files by name. Names contain a hash of the content. */
export type ConsoleBundle = { page: string; files: Map<string, ConsoleFile> };

const FOLDER = path.join(ROOT, 'console');
const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};
// At each start from the sources: 15 ms for all files.
const FAST_QUALITY = 5;
/** Of brotli, for a bundle that is kept: 1.5 s of a processor for 9 % less than the fast one. */
export const BEST_QUALITY = 11;
const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

/**
 * Bundles the console with esbuild, in memory.
 * @param quality  of brotli, 0 to 11
 * @returns  also esbuild's description of the files
 * @throws Error  with the place of each mistake, when a file of the console is wrong
 */
export async function bundleConsole(quality = FAST_QUALITY): Promise<ConsoleBundle & { metafile: Metafile }> {
  const { files: built, metafile } = await runEsbuild();
  const icon = await readFile(path.join(FOLDER, 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  const contents = [...built, { name: iconName, content: icon }];
  const files = await Promise.all(
    contents.map(async ({ name, content }) => [name, await compress(name, content, quality)] as const),
  );
  return { page: makePage(metafile, iconName), files: new Map(files), metafile };
}

type BuiltFile = { name: string; content: Uint8Array };

async function runEsbuild(): Promise<{ files: BuiltFile[]; metafile: Metafile }> {
  // Loaded here: a node with a prebuilt console does not need it.
  const esbuild = await import('esbuild');
  try {
    const { outputFiles, metafile } = await esbuild.build({
      absWorkingDir: ROOT,
      entryPoints: ['console/main.tsx', 'console/styles/main.css'],
      outdir: 'console/dist',
      // Minified for browsers, React is that for production.
      bundle: true,
      splitting: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      legalComments: 'linked',
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      assetNames: '[name]-[hash]',
      logLevel: 'silent',
      plugins: [shareModules, oneLanguage, workletFiles(esbuild)],
    });
    return { files: outputFiles.map((file) => ({ name: path.basename(file.path), content: file.contents })), metafile };
  } catch (cause) {
    throw new Error(describeFailure(cause), { cause });
  } finally {
    // Ends esbuild's process, which is not needed again.
    await esbuild.stop();
  }
}

/**
 * esbuild makes a file for each set of lazily loaded modules that share something. Here each of them imports all that
 * views share, so that there is one shared file, and the first page needs few requests.
 */
const shareModules: Plugin = {
  name: 'share-modules',
  setup(build) {
    const lazy = lazyModules();
    build.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      if (!lazy.has(file)) return undefined;
      const text = await readFile(file, 'utf8');
      const contents = `import ${JSON.stringify(path.join(FOLDER, 'first-load.ts'))};${text}`;
      return { contents, loader: file.endsWith('x') ? 'tsx' : 'ts', resolveDir: path.dirname(file) };
    });
  },
};

/**
 * The modules that are loaded lazily, from the texts of all: esbuild loads a module when it finds the first import of
 * it, which for one that is imported in both ways is another at each build.
 */
function lazyModules(): Set<string> {
  const files = globSync('{console,sdk/src}/**/*.{ts,tsx}', { cwd: ROOT }).map((file) => path.join(ROOT, file));
  const imported = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bimport\(\s*'(\.[^']+)'/g)].map(([, to]) =>
      path.resolve(path.dirname(file), to!),
    ),
  );
  return new Set(imported);
}

/** React Aria has its few texts in 30 languages; the console has one. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup(build) {
    build.onLoad(
      { filter: /\/react-(aria|aria-components|stately)\/.*\/intl\/.*\/?[a-z]{2}-[A-Z]{2}\.mjs$/ },
      ({ path: file }) => (file.endsWith('/en-US.mjs') ? undefined : { contents: 'export default {};' }),
    );
  },
};

/**
 * `import url from 'worklet:./name.ts'` is the address of a file with that module alone: what runs in the audio thread
 * is loaded there, by its address.
 */
function workletFiles({ build: buildAlone }: typeof import('esbuild')): Plugin {
  return {
    name: 'worklet-files',
    setup(build) {
      build.onResolve({ filter: /^worklet:/ }, ({ path: name, resolveDir }) => ({
        // Its ending is that of the file that is made. From the folder, since the names of files depend on this path.
        path: path.relative(FOLDER, path.join(resolveDir, name.slice('worklet:'.length))).replace(/\.ts$/, '.js'),
        namespace: 'worklet',
      }));
      build.onLoad({ filter: /./, namespace: 'worklet' }, async ({ path: file }) => {
        const entryPoints = [path.join(FOLDER, file.replace(/\.js$/, '.ts'))];
        const { outputFiles } = await buildAlone({
          entryPoints,
          bundle: true,
          minify: true,
          write: false,
          format: 'esm',
          target: 'es2022',
        });
        return { contents: outputFiles[0]!.contents, loader: 'file' };
      });
    },
  };
}

function describeFailure(cause: unknown): string {
  const { errors } = cause as Partial<BuildFailure>;
  if (!errors?.length) return `The console could not be bundled: ${(cause as Error).message}`;
  const lines = errors.map(({ text, location }) => `${location ? `${location.file}:${location.line}: ` : ''}${text}`);
  return `The console could not be bundled: ${lines.join('; ')}`;
}

async function compress(name: string, content: Uint8Array, quality: number): Promise<ConsoleFile> {
  const options = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: quality } };
  const [br, gz] = await Promise.all([brotli(content, options), gzip(content, { level: 9 })]);
  return {
    contentType: contentTypeOf(name) ?? 'application/octet-stream',
    identity: Buffer.from(content),
    br,
    gzip: gz,
  };
}

/** Null for what is no file of the console, such as a compressed one. */
export function contentTypeOf(name: string): string | null {
  return CONTENT_TYPES[path.extname(name)] ?? null;
}

/**
 * index.html with the names of its files. The files that the first script imports are requested at the same time as it.
 */
function makePage({ outputs }: Metafile, iconName: string): string {
  const find = (entryPoint: string) => Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint)!;
  const [script, { imports }] = find('console/main.tsx');
  const shared = imports.filter(({ kind }) => kind === 'import-statement');
  const url = (file: string) => `/console/${path.basename(file)}`;
  const tags = [
    `<link rel="icon" href="${url(iconName)}">`,
    `<link rel="stylesheet" href="${url(find('console/styles/main.css')[0])}">`,
    ...shared.map((file) => `<link rel="modulepreload" href="${url(file.path)}">`),
    `<script type="module" src="${url(script)}"></script>`,
  ];
  return readFileSync(path.join(FOLDER, 'index.html'), 'utf8').replace('<!-- files -->', tags.join('\n    '));
}
