'use strict';
// Installs what a command needs, then runs it under Node 24. Plain JavaScript, because Node 20 must run it.

const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { prepareBundle } = require('./prepare/bundle.js');
const { preparePackages } = require('./prepare/packages.js');
const { prepareNode24 } = require('./prepare/node24.js');
const { prepareParts } = require('./prepare/parts.js');
const { nodeFor } = require('./prepare/snapshot/packages.js');
const { prebuiltFolder } = require('./prepare/prebuilt.js');
const { prepareTools } = require('./prepare/tools.js');
const { SANDBOX, wantedTools } = require('./prepare/wanted-tools.js');
const processEnvironment = require('./process-environment.json');
const { runAll } = require('./run.js');

const ROOT = path.resolve(__dirname, '..');
const ALL_TOOLS = ['ffmpeg', ...SANDBOX];

/**
 * The commands that are separate programs: the Node programs that each runs in order, whether the command needs the
 * development packages, and the system tools that it needs.
 */
const PROGRAMS = {
  serve: {
    isBundle: true,
    programs: (args) => [[path.join(prepareBundle(ROOT), 'main.js'), ...args]],
    tools: () => wantedTools(process.env),
  },
  demo: { programs: (args) => [[fileOf('demo'), ...args]], tools: () => ALL_TOOLS },
  test: { needsDev: true, programs: (args) => [['test/run.ts', ...args]], tools: () => ALL_TOOLS },
  check: {
    needsDev: true,
    programs: () => [
      ['node_modules/typescript/bin/tsc', '--noEmit', '--project', ROOT],
      ['node_modules/typescript/bin/tsc', '--noEmit', '--project', path.join(ROOT, 'console')],
      // The parts of these tests that run in the browser need its types.
      ['node_modules/typescript/bin/tsc', '--noEmit', '--project', path.join(ROOT, 'test/console')],
      ['node_modules/@biomejs/biome/bin/biome', 'check', ROOT],
      // Unused exports and files: of the code without its tests and benchmarks, then of these.
      ['node_modules/knip/bin/knip.js', '--production', '--no-progress', '--directory', ROOT],
      ['node_modules/knip/bin/knip.js', '--no-progress', '--directory', ROOT],
    ],
  },
  prove: { needsDev: true, programs: (args) => [['test/prove/run.ts', ...args]], tools: () => ALL_TOOLS },
  bench: { needsDev: true, programs: benchPrograms, tools: () => ALL_TOOLS },
  release: { needsDev: true, programs: (args) => [['scripts/release.ts', ...args]] },
};

const SOURCES = { cli: 'src/cli/main.ts', demo: 'src/demo/main.ts' };

// Compiled code of earlier starts, for programs that run from their sources.
const COMPILE_CACHE = path.join(ROOT, 'node_modules', '.cache', 'verbatim');

/** Runs a command. @param args  the words after `verbatim` */
async function main([name, ...args]) {
  process.env.VERBATIM_COMMAND = commandAsTyped(process.env.VERBATIM_COMMAND || process.argv[1]);
  const asksForHelp = args.includes('--help') || args.includes('-h');
  if (name === 'prepare' && !asksForHelp) await prepareParts(ROOT, args);
  else if (isProgram(name) && !asksForHelp) await runProgram(PROGRAMS[name], args);
  else await runCommand();
}

/** Published packages do not have the files of the commands for developers. */
function isProgram(name = '') {
  return Object.hasOwn(PROGRAMS, name) && !(PROGRAMS[name].needsDev && prebuiltFolder(ROOT));
}

/** The file of a program beside the service: its source, or what a published package has in its place. */
function fileOf(name) {
  const prebuilt = prebuiltFolder(ROOT);
  return prebuilt ? path.join(prebuilt, `${name}.js`) : path.join(ROOT, SOURCES[name]);
}

/**
 * What the reader of a message types for this command: `bin/verbatim` in a clone, `verbatim` where PATH has it.
 * @param file  how the shell was told of the file, which for a program of PATH is its path
 */
function commandAsTyped(file) {
  if (!path.isAbsolute(file)) return file;
  if ((process.env.PATH ?? '').split(path.delimiter).includes(path.dirname(file))) {
    if (process.env.npm_command !== 'exec') return 'verbatim';
    const { npm_config_package: given } = process.env;
    return given ? `npx --package=${given} verbatim` : `npx ${require('../package.json').name}`;
  }
  const relative = path.relative('', file);
  return relative.startsWith('..') ? file : relative;
}

async function runProgram(command, args) {
  await preparePackages(ROOT, { withDev: command.needsDev === true });
  const node = await prepareNode24();
  const programs = command.programs(args);
  const defaults = {
    // As `roleEnvironment` of src/config/settings.ts says.
    ...processEnvironment,
    // A bundle starts as fast without it, and Node keeps in memory what it reads from there.
    ...(!command.isBundle && compileCache()),
  };
  const prepared = command.tools ? await prepareTools(command.tools()) : {};
  const program = command.isBundle ? nodeFor(ROOT, path.dirname(programs[0][0]), node) : node;
  process.exitCode = await runAll(program, programs, { root: ROOT, env: { ...defaults, ...process.env, ...prepared } });
}

/** The commands of src/cli, and the help: in this process where it is Node 24, which saves a start. */
async function runCommand() {
  await preparePackages(ROOT);
  const node = await prepareNode24();
  if (node !== process.execPath) {
    process.exitCode = await runAll(node, [['bin/verbatim', ...process.argv.slice(2)]], {
      root: ROOT,
      env: process.env,
    });
    return;
  }
  const { NODE_COMPILE_CACHE: cache } = { ...compileCache(), ...process.env };
  if (cache) require('node:module').enableCompileCache(cache);
  await import(pathToFileURL(fileOf('cli')));
}

/** A published package writes nothing into its own folder. */
function compileCache() {
  return prebuiltFolder(ROOT) ? {} : { NODE_COMPILE_CACHE: COMPILE_CACHE };
}

/**
 * The named benchmarks, or all but `soak`, which runs for hours; each gets the options. All arguments after `wer` (a
 * manifest and options) and `price` (a folder and options) go to it.
 */
function benchPrograms(given) {
  const firstOption = given.findIndex((argument) => argument.startsWith('-'));
  const names = firstOption < 0 ? given : given.slice(0, firstOption);
  const options = given.slice(names.length);
  const files = require('node:fs').readdirSync(path.join(ROOT, 'bench'), { recursive: true }).sort();
  const known = new Map(
    files
      .filter((file) => file.endsWith('.bench.ts'))
      .map((file) => [path.basename(file, '.bench.ts'), path.join('bench', file)]),
  );
  if (['wer', 'price'].includes(names[0])) return [[known.get(names[0]), ...given.slice(1)]];
  const unknown = names.find((name) => !known.has(name));
  if (unknown) throw new Error(`There is no benchmark ${unknown}; there are: ${[...known.keys()].join(', ')}`);
  const wanted = names.length > 0 ? names : [...known.keys()].filter((name) => name !== 'soak');
  return wanted.map((name) => [known.get(name), ...options]);
}

module.exports = { main, commandAsTyped };
