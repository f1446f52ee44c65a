import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, importsOf, isSql, literalsOf, readSources } from './sources.ts';

// What every room but rules/ and runtime/ may use: settings, errors, logs, and the shapes of an endpoint, a schema and a page.
const COMMON_GROUND = [
  ...['config', 'config-values', 'errors', 'json', 'log', 'metrics', 'metric-kinds'].map((name) => `src/${name}.ts`),
  ...['src/http/route.ts', 'src/http/page.ts', 'src/http/schema.ts'],
];

/** Who may import whom: rooms, or single files. A room that is not here (wiring, demo) may import all. */
const MAY_IMPORT: Record<string, string[]> = {
  rules: [],
  runtime: ['src/rules/'],
  db: [...COMMON_GROUND, 'src/rules/', 'src/runtime/'],
  http: [...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/'],
  accounts: [...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/', 'src/audit/', 'src/http/guards.ts'],
  audit: [...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/'],
  audio: [...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/engines/engine.ts'],
  engines: [
    ...[...COMMON_GROUND, 'src/rules/', 'src/runtime/'],
    // Which of the pulled models is the best is the catalogue's to say.
    ...['src/models/catalogue.ts', 'src/models/folder.ts'],
  ],
  events: [
    ...[...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/'],
    // The payload of an event shows a job or a webhook.
    ...['src/jobs/reference.ts', 'src/webhooks/view.ts'],
  ],
  webhooks: [
    ...[...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/', 'src/audit/', 'src/events/'],
    // Deleting or disabling a webhook drops its deliveries in the same transaction.
    'src/deliveries/drop-store.ts',
  ],
  deliveries: [
    ...[...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/'],
    ...['src/events/', 'src/webhooks/', 'sdk/src/'],
  ],
  models: [...COMMON_GROUND, 'src/runtime/', 'src/db/embedded-claim.ts'],
  jobs: [
    ...[...COMMON_GROUND, 'src/rules/', 'src/runtime/', 'src/db/'],
    ...['src/accounts/', 'src/audio/', 'src/engines/', 'src/events/'],
    // Erasing a job drops what waits of its events in the same transaction.
    'src/deliveries/drop-store.ts',
  ],
};

const sources = readSources(['src'], '.ts').filter(({ isTest }) => !isTest);
const sdk = readSources(['sdk/src'], '.ts').filter(({ isTest }) => !isTest);

for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
  test(`${room}/ imports only what stands below it`, () => {
    const own = `src/${room}/`;
    const wrong = sources
      .filter(({ file }) => file.startsWith(own))
      .flatMap((source) => importsOf(source).map(({ from }) => ({ file: source.file, from })))
      .filter(({ from }) => /^(src|sdk|test|bench|scripts)\//.test(from))
      .filter(({ from }) => ![own, ...allowed].some((place) => from.startsWith(place)));

    assert.deepEqual(wrong, []);
  });
}

test('every room is in the table', () => {
  const wiring = ['roles', 'demo', 'cli'];
  const rooms = new Set(
    sources.map(({ file }) => file.split('/')).flatMap((parts) => (parts.length > 2 ? parts[1]! : [])),
  );

  assert.deepEqual(
    [...rooms].filter((room) => !(room in MAY_IMPORT) && !wiring.includes(room)),
    [],
  );
});

test('no source imports a test', () => {
  const wrong = [...sources, ...sdk].filter((source) =>
    importsOf(source).some(({ from }) => /\.test\.ts$|^test\//.test(from)),
  );

  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  );
});

test('rules/ does no I/O, asks no time and rolls no dice', () => {
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

test('the sdk needs nothing but itself and node:crypto', () => {
  const modules = sdk.flatMap((source) => importsOf(source).map(({ from }) => from));

  assert.deepEqual(
    modules.filter((from) => !from.startsWith('sdk/') && from !== 'node:crypto'),
    [],
  );
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
    what: 'the environment is read by config.ts alone',
    pattern: /\bprocess\.env\b|\bprocess\[/,
    allowed: /^src\/(config|demo|cli)\.ts$|^src\/(demo|cli)\//,
  },
  {
    what: 'the process is ended by the wiring and by engine children alone',
    pattern: /\bprocess\.(exit|abort|reallyExit)\(/,
    allowed: /^src\/(main|demo|cli)\.ts$|^src\/(roles|demo|cli)\/|^src\/engines\/[a-z-]*child[a-z-]*\.ts$/,
  },
  {
    what: 'connections go out of deliveries, the remote engine, pulling models and the audio storage alone',
    pattern:
      /\bfetch\(|\b(net|tls|http2)\.(connect|createConnection)\(|\bhttps?\.(request|get)\(|createSocket\(|\bimport\('@aws-sdk|^import (?!type)[^;]*'(undici|@aws-sdk)/m,
    // Demo and command line stand outside: they are clients of the service.
    allowed:
      /^src\/deliveries\/(post|connect|connections|exchange|tunnel)\.ts$|^src\/engines\/openai\.ts$|^src\/models\/hub\.ts$|^src\/audio\/s3-storage\.ts$|^src\/(demo|cli)(\.ts$|\/)/,
  },
  {
    what: 'certificates are never taken on trust',
    pattern: /rejectUnauthorized: false|NODE_TLS_REJECT_UNAUTHORIZED'?\]? ?=[^=]|EnvHttpProxyAgent|NODE_USE_ENV_PROXY/,
    // config.ts refuses to start with it.
    allowed: /^src\/config\.ts$/,
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
