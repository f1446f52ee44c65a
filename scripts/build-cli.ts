import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

// Builds the npm package of the command line: the client, commander and all commands in one file. The project itself runs the
// TypeScript.

const ROOT = path.join(import.meta.dirname, '..');

const README = `# @verbatim/cli

The command line of Verbatim, a transcription service with durable jobs and signed webhooks.

    npx @verbatim/cli init
    npx @verbatim/cli transcribe call.mp3

\`verbatim --help\` lists all commands.
`;

/** What npm starts. \`health\` runs every few seconds in containers, so it loads nothing else. */
const ENTRY = `#!/usr/bin/env node
import health from './health.js';
if (process.argv[2] === 'health') process.exitCode = await health.runHealth(process.argv.slice(3));
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
  const options = { bundle: true, platform: 'node', format: 'esm', target: 'node22', banner: { js: REQUIRE } } as const;
  const entryPoints = { cli: path.join(ROOT, 'cli/main.ts'), health: path.join(ROOT, 'bin/health.js') };
  await build({
    ...options,
    entryPoints,
    outdir: folder,
    legalComments: 'eof',
    minifySyntax: true,
    logLevel: 'warning',
  });
  fs.writeFileSync(path.join(folder, 'verbatim.js'), ENTRY, { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'README.md'), README);
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

function manifest(): object {
  const { version, license } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return {
    ...{ name: '@verbatim/cli', version, description: 'Command line of the Verbatim transcription service', license },
    ...{ type: 'module', engines: { node: '>=22.12' }, bin: { verbatim: './verbatim.js' } },
  };
}
