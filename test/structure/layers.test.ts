import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { codeOf, importsOf, isSql, isStore, literalsOf, readService, readSources } from './sources.ts';

// Biome finds imports of tests, of undeclared packages and of modules of Node in the SDK, reads of the environment, and
// files that import each other in a circle (biome.json); knip finds unused exports (knip.json).

const MAX_FILES_PER_FOLDER = 12;

/**
 * The parts of the service, lowest first: each imports from those below it only. What has the same number does not
 * import each other.
 */
const LEVELS: Record<string, number> = {
  rules: 0,
  platform: 1,
  config: 2,
  db: 3,
  models: 4,
  engines: 5,
  audio: 6,
  http: 4,
  audit: 5,
  egress: 5,
  accounts: 6,
  webhooks: 7,
  jobs: 8,
  stream: 9,
  operator: 9,
  live: 9,
  processes: 10,
  cli: 10,
  demo: 10,
};
/** Shapes that two parts share: of rows, of API objects and of a setting. */
const SHARED_SHAPE = /^src\/(accounts\/account|engines\/engine-spec|jobs\/schemas)\.ts$/;

const sources = readService();
const cli = readSources(['cli'], '.ts').filter(({ isTest }) => !isTest);
const pages = readSources(['console'], '.ts', '.tsx').filter(({ isTest }) => !isTest);

const edgesOf = (files: typeof sources) =>
  files.flatMap((source) => importsOf(source).map(({ from }) => ({ file: source.file, from })));

test('each part of the service imports only from the parts below it', () => {
  const partOf = (file: string) => file.split('/')[1]!;
  const edges = edgesOf(sources).filter(({ from }) => from.startsWith('src/'));

  const wrong = edges.filter(({ file, from }) => {
    const [importer, imported] = [partOf(file), partOf(from)];
    return importer !== imported && !(LEVELS[imported]! < LEVELS[importer]!) && !SHARED_SHAPE.test(from);
  });

  assert.ok(edges.length > 1_000);
  assert.deepEqual(wrong, []);
});

// The root's files and the routes of the console name the pages that the browser loads later.
const LATER = /^console\/([^/]*|app\/routes\.ts)$/;

for (const [name, files] of Object.entries({ service: sources, console: pages })) {
  test(`no folders of the ${name} import each other in a circle`, () => {
    const root = files[0]!.file.split('/')[0]!;
    let left = edgesOf(files.filter(({ file }) => !LATER.test(file)))
      .filter(({ from }) => from.startsWith(`${root}/`))
      .map(({ file, from }) => ({ folder: path.posix.dirname(file), imported: path.posix.dirname(from) }))
      .filter(({ folder, imported }) => folder !== imported);

    // What is imported and imports nothing itself is in no circle.
    for (let before = 0; before !== left.length; ) {
      before = left.length;
      const importers = new Set(left.map(({ folder }) => folder));
      left = left.filter(({ imported }) => importers.has(imported));
    }

    assert.deepEqual(left, []);
  });
}

test('no folder holds more than 12 files', () => {
  const folders = Map.groupBy([...sources, ...cli, ...pages], ({ file }) => path.posix.dirname(file));

  assert.deepEqual(
    [...folders].filter(([, files]) => files.length > MAX_FILES_PER_FOLDER).map(([folder]) => folder),
    [],
  );
});

test('the command line needs nothing of the service: it is packed by itself', () => {
  const allowed =
    /^(cli|sdk\/src)\/|^bin\/(health|running-service)\.js$|^package\.json$|^node:|^commander$|^@modelcontextprotocol\/server/;
  const edges = edgesOf(cli);

  assert.ok(edges.length > 50);
  assert.deepEqual(
    edges.filter(({ from }) => !allowed.test(from)),
    [],
  );
});

test('rules/ does no I/O and reads neither clock nor random numbers', () => {
  const rules = sources.filter(({ file }) => file.startsWith('src/rules/'));
  const impure =
    /\bDate\.now|new Date\(\)|Math\.random|performance\.|process\.|\bfetch\(|set(Timeout|Interval|Immediate)|console\.|\bawait\b|randomBytes|randomUUID/;

  assert.deepEqual(
    edgesOf(rules).filter(({ from }) => !/^src\/rules\/|^node:(net|crypto|zlib)$/.test(from)),
    [],
  );
  assert.deepEqual(
    rules.filter((source) => impure.test(codeOf(source))).map(({ file }) => file),
    [],
  );
});

test('stored audio is opened in audio/storage/ only, where errors of the file system become those of the storage', () => {
  // bubblewrap's options look at the system's files; a recording has a descriptor of the storage.
  const others = /^src\/audio\/(storage\/|sandbox\/sandbox-root\.ts$)/;
  const edges = edgesOf(sources.filter(({ file }) => /^src\/(audio|jobs|live|operator)\//.test(file)));

  assert.deepEqual(
    edges.filter(({ file, from }) => /^(node:)?fs(\/|$)/.test(from) && !others.test(file)),
    [{ file: 'src/jobs/speakers/recording.ts', from: 'node:fs/promises' }],
  );
});

test('SQL stands in store files and db/ only', () => {
  const wrong = sources.filter((source) => !isStore(source) && !source.file.startsWith('src/db/'));

  assert.deepEqual(
    wrong.filter((source) => literalsOf(source).some(isSql)).map(({ file }) => file),
    [],
  );
});

// What a file does, where it may be done, and why there.
const PLACES: { what: string; pattern: RegExp; allowed: RegExp }[] = [
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
      /^src\/egress\/|^src\/webhooks\/http-client\/|^src\/audio\/fetch\/|^src\/engines\/openai\/openai(-client)?\.ts$|^src\/models\/sources\/|^src\/audio\/storage\/s3-storage\.ts$|^src\/(demo|cli)\//,
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
