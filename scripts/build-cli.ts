import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { packageToInstall } from './release/package-names.ts';

// Builds the npm package of the command line: all commands with the client of the API, commander and whatever else they
// import. The project itself runs the TypeScript.

const ROOT = path.join(import.meta.dirname, '..');

const README = `# @verbatim/cli

The command line of Verbatim, a transcription service with durable jobs and signed webhooks.

    npx --package=${packageToInstall('cli')} verbatim init
    npx --package=${packageToInstall('cli')} verbatim transcribe call.mp3

\`verbatim --help\` lists all commands.
`;

/** What npm starts. \`health\` runs every few seconds in containers, so it loads nothing else. */
const ENTRY = `#!/usr/bin/env node
import health from './health.js';
if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write(\`verbatim: Node 22.12 or newer is needed, this is \${process.version}.\\n\`);
  process.exitCode = 1;
} else if (process.argv[2] === 'health') process.exitCode = await health.runHealth(process.argv.slice(3));
else await (await import('./cli.js')).runProcess();
`;

// The code that is bundled may call require() for modules of Node.
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);`;

if (import.meta.main) {
  const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'cli/dist'));
  await buildCli(folder);
  process.stdout.write(`Publish it with: npm publish ${folder}\n`);
}

/** Writes the package into the folder, after deleting the folder's contents. */
export async function buildCli(folder: string): Promise<void> {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    banner: { js: REQUIRE },
    entryPoints: { cli: path.join(ROOT, 'cli/main.ts'), health: path.join(ROOT, 'bin/health.js') },
    outdir: folder,
    // A file for each command: the help starts in half the time of one file with all of them.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  fs.writeFileSync(path.join(folder, 'verbatim.js'), ENTRY, { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'README.md'), README);
  fs.writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES'), licencesOf(Object.keys(metafile.inputs)));
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** The licences of the packages that these files belong to. */
function licencesOf(files: string[]): string {
  const packages = new Set(files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  const texts = [...packages].sort().map((name) => {
    const folder = path.join(ROOT, 'node_modules', name);
    const file = fs.readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined) throw new Error(`${name} has no licence file.`);
    return `${name}\n\n${fs.readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(72)}\n\n`);
}

function manifest(): object {
  const { version, license } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return {
    name: '@verbatim/cli',
    version,
    description: 'Command line of the Verbatim transcription service',
    license,
    type: 'module',
    engines: { node: '>=22.12' },
    bin: { verbatim: './verbatim.js' },
  };
}
