import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cyclesOf } from './import-cycles.ts';
import { codeOf, importsOf, isSql, literalsOf, ROOT, readSources } from './sources.ts';

const MAX_FILES_PER_FOLDER = 12;

/**
 * The parts of the service, lowest first: each imports from those below it only. What has the same number does not import
 * each other. Within a part folders and files import in one direction (the tests of cycles).
 */
const LEVELS: Record<string, number> = {
  ...{ rules: 0, platform: 1, config: 2, db: 3 },
  ...{ models: 4, engines: 5, audio: 6 },
  ...{ http: 4, audit: 5, egress: 5, accounts: 6, webhooks: 7, jobs: 8 },
  ...{ stream: 9, operator: 9, live: 9 },
  ...{ processes: 10, cli: 10, demo: 10 },
};

const sources = readSources(['src'], '.ts').filter(({ isTest }) => !isTest);
const sdk = readSources(['sdk/src'], '.ts').filter(({ isTest }) => !isTest);
const cli = readSources(['cli'], '.ts').filter(({ isTest }) => !isTest);
const pages = [...readSources(['console'], '.ts'), ...readSources(['console'], '.tsx')].filter(({ isTest }) => !isTest);

const partOf = (file: string) => file.split('/')[1]!;
const edges = sources.flatMap((source) =>
  importsOf(source)
    .filter(({ from }) => from.startsWith('src/'))
    .map(({ from }) => ({ file: source.file, from })),
);

test('each part of the service imports only from the parts below it', () => {
  const wrong = edges.filter(({ file, from }) => {
    const [importer, imported] = [partOf(file), partOf(from)];
    return importer !== imported && !(LEVELS[imported]! < LEVELS[importer]!) && !isSharedShape(from);
  });

  assert.deepEqual(wrong, []);
});

/** Shapes that two parts share: of rows, of API objects and of a setting. */
function isSharedShape(file: string): boolean {
  return /^src\/(accounts\/account|engines\/engine-spec|jobs\/schemas)\.ts$/.test(file);
}

test('every part has its level', () => {
  const parts = new Set(sources.map(({ file }) => partOf(file)));

  assert.deepEqual(
    [...parts].filter((part) => !(part in LEVELS)),
    [],
  );
});

test('no files import each other in a circle', () => {
  assert.deepEqual(cyclesOf(edges.map(({ file, from }) => [file, from])), []);
});

test('no folders import each other in a circle', () => {
  const between = edges.map(({ file, from }) => [path.posix.dirname(file), path.posix.dirname(from)] as const);

  assert.deepEqual(cyclesOf(between.filter(([importer, imported]) => importer !== imported)), []);
});

test('a circle is found', () => {
  assert.deepEqual(
    cyclesOf([
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'b'],
      ['c', 'd'],
    ]),
    [['b', 'c']],
  );
});

test('no folder holds more than 12 files', () => {
  const counts = new Map<string, number>();
  for (const { file } of [...sources, ...cli, ...pages])
    counts.set(path.posix.dirname(file), (counts.get(path.posix.dirname(file)) ?? 0) + 1);

  assert.deepEqual(
    [...counts].filter(([, count]) => count > MAX_FILES_PER_FOLDER),
    [],
  );
});

test('the command line needs nothing of the service: it is packed by itself', () => {
  const modules = cli.flatMap((source) => importsOf(source).map(({ from }) => from));
  const allowed =
    /^(cli|sdk\/src)\/|^bin\/health\.js$|^package\.json$|^node:|^commander$|^@modelcontextprotocol\/server/;

  assert.ok(modules.length > 50);
  assert.deepEqual(
    modules.filter((from) => !allowed.test(from)),
    [],
  );
});

test('no files of the command line import each other in a circle', () => {
  const pairs = cli.flatMap((source) => importsOf(source).map(({ from }) => [source.file, from] as const));

  assert.deepEqual(cyclesOf(pairs.filter(([, from]) => from.startsWith('cli/'))), []);
});

test('no files or folders of the console import each other in a circle', () => {
  const pairs = pages.flatMap((source) => importsOf(source).map(({ from }) => [source.file, from] as const));
  const inside = pairs.filter(([, from]) => from.startsWith('console/'));
  // The root's files and the routes name the pages that the browser loads later.
  const isLater = (file: string) => file === 'console/app/routes.tsx' || path.posix.dirname(file) === 'console';
  const folders = inside
    .filter(([file]) => !isLater(file))
    .map(([file, from]) => [path.posix.dirname(file), path.posix.dirname(from)] as const);

  assert.ok(inside.length > 300);
  assert.deepEqual(cyclesOf(inside), []);
  assert.deepEqual(cyclesOf(folders.filter(([importer, imported]) => importer !== imported)), []);
});

test('no source imports a test', () => {
  const wrong = [...sources, ...sdk, ...cli, ...pages].filter((source) =>
    importsOf(source).some(({ from }) => /\.test\.ts$|^test\//.test(from)),
  );

  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  );
});

test('rules/ does no I/O and reads neither clock nor random numbers', () => {
  const rules = sources.filter(({ file }) => file.startsWith('src/rules/'));
  const modules = rules
    .flatMap((source) => importsOf(source).map(({ from }) => from))
    .filter((from) => !from.startsWith('src/rules/'));
  const impure =
    /\bDate\.now|new Date\(\)|Math\.random|performance\.|process\.|\bfetch\(|set(Timeout|Interval|Immediate)|console\.|\bawait\b|randomBytes|randomUUID/;

  assert.deepEqual(
    [...new Set(modules)].filter((name) => !['node:net', 'node:crypto', 'node:zlib'].includes(name)),
    [],
  );
  assert.deepEqual(
    rules.filter((source) => impure.test(codeOf(source))).map(({ file }) => file),
    [],
  );
});

// Modules of Node, each behind a subpath import that has another file for other runtimes.
const SDK_NODE_MODULES: Record<string, string> = {
  'sdk/src/client/audio/open-file.ts': 'node:fs',
  'sdk/src/webhooks/crypto/node-crypto.ts': 'node:crypto',
};

test('the sdk needs nothing but itself, and modules of Node only where other runtimes have another file', () => {
  const { imports } = JSON.parse(fs.readFileSync(path.join(ROOT, 'sdk/package.json'), 'utf8')) as {
    imports: Record<string, { node: string; default: string }>;
  };
  const modules = sdk.flatMap((source) => importsOf(source).map((each) => ({ file: source.file, ...each })));

  assert.deepEqual(
    modules.filter(
      ({ file, from }) => !from.startsWith('sdk/') && !(from in imports) && SDK_NODE_MODULES[file] !== from,
    ),
    [],
  );
  assert.deepEqual(
    Object.values(imports).map((target) => path.posix.join('sdk', target.node)),
    Object.keys(SDK_NODE_MODULES),
  );
  const edges = modules.filter(({ isType }) => !isType).map(({ file, from }) => [file, from] as const);
  assert.deepEqual(cyclesOf(edges), []);
});

test('SQL stands in store files and db/ only', () => {
  const wrong = sources.filter(({ file }) => !/(^|[/-])store\.ts$/.test(file) && !file.startsWith('src/db/'));

  assert.deepEqual(
    wrong.filter((source) => literalsOf(source).some(isSql)).map(({ file }) => file),
    [],
  );
});

// What a file does, where it may be done, and why there.
const PLACES: { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: 'the environment is read by the settings alone',
    pattern: /\bprocess\.env\b|\bprocess\[/,
    allowed: /^src\/config\/settings\.ts$|^src\/(demo|cli)\//,
  },
  {
    what: 'the process is ended by the wiring and by engine children alone',
    pattern: /\bprocess\.(exit|abort|reallyExit)\(/,
    allowed: /^src\/(processes|demo|cli)\/|^src\/engines\/[a-z]+\/[a-z-]*child[a-z-]*\.ts$/,
  },
  {
    what: 'connections go out of egress, deliveries, fetches, the remote engine, pulling models and the audio storage alone',
    pattern:
      /\bfetch\(|\b(net|tls|http2)\.(connect|createConnection)\(|\bhttps?\.(request|get)\(|createSocket\(|\bimport\('@aws-sdk|^import (?!type)[^;]*'(undici|@aws-sdk)/m,
    // The demo and the command line are clients of the service.
    allowed:
      /^src\/egress\/|^src\/webhooks\/http-client\/|^src\/audio\/fetch\/|^src\/engines\/openai\/openai(-client)?\.ts$|^src\/models\/hub\.ts$|^src\/audio\/storage\/s3-storage\.ts$|^src\/(demo|cli)\//,
  },
  {
    what: 'certificates are always verified',
    pattern: /rejectUnauthorized: false|NODE_TLS_REJECT_UNAUTHORIZED'?\]? ?=[^=]|EnvHttpProxyAgent|NODE_USE_ENV_PROXY/,
    // The settings refuse to start with it.
    allowed: /^src\/config\/settings\.ts$/,
  },
  { what: 'text is never run as code', pattern: /\beval\(|new Function\(|\bshell: true/, allowed: /^$/ },
];

for (const { what, pattern, allowed } of PLACES) {
  test(what, () => {
    const wrong = sources.filter((source) => pattern.test(codeOf(source)) && !allowed.test(source.file));

    assert.deepEqual(
      wrong.map(({ file }) => file),
      [],
    );
  });
}
