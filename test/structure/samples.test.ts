import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { apiDocument } from '../../scripts/api-document.ts';
import { ADMIN_SAMPLES, OPENAI_SAMPLES, SAMPLES } from '../../src/http/openapi/samples/table.ts';
import { ROOT } from './sources.ts';

type Operation = { operationId: string; 'x-codeSamples': { lang: string; source: string }[] };

const { paths } = await apiDocument();
const operations = Object.values(paths).flatMap((methods) => Object.values(methods)) as Operation[];
const sourcesIn = (lang: string) =>
  operations.map((operation) => ({
    id: operation.operationId,
    source: operation['x-codeSamples'].find((sample) => sample.lang === lang)!.source,
  }));
/** Those that no client has a method for. */
const WITHOUT_METHOD = [
  ...['get_audio_links_link', 'get_shared_token', 'get_metrics', 'get_admin_readiness', 'get_healthz', 'get_readyz'],
  // The console signs in by them.
  ...['post_session', 'get_session', 'delete_session'],
  ...['get_sign_in', 'post_sign_in', 'post_sign_in_oidc', 'post_setup'],
  ...['get_me', 'patch_me', 'post_me_account', 'post_me_invitations'],
  ...['get_users', 'patch_users_id', 'delete_users_id'],
  ...['get_invitations', 'post_invitations', 'delete_invitations_id'],
  ...['post_invitations_open', 'post_invitations_accept'],
  // Of clients of OpenAI's API.
  'post_realtime_client_secrets',
  // Once in a while, by curl.
  ...['get_admin_operators', 'delete_admin_operators_id'],
  ...['post_admin_webhooks_recover', 'post_admin_jobs_retry'],
];
const PYTHON = path.join(ROOT, 'sdk/python/src/verbatim_sdk/_sync');
const TSC = path.join(ROOT, 'node_modules/typescript/bin/tsc');
const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** A folder inside of the project, so that packages are found. */
function openFolder() {
  const folder = fs.mkdtempSync(path.join(ROOT, 'node_modules/.samples-'));
  return { folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }) };
}

test('every operation has samples, and every sample an operation', () => {
  const sampled = [SAMPLES, ADMIN_SAMPLES, OPENAI_SAMPLES].flatMap((table) => Object.keys(table));

  assert.deepEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
    [...sampled, ...WITHOUT_METHOD].toSorted(),
  );
});

test('the samples in TypeScript hold in strict TypeScript, and so do the examples of the README', () => {
  using project = openFolder();
  const readme = fs.readFileSync(path.join(ROOT, 'sdk/README.md'), 'utf8');
  const client = readme.slice(0, readme.indexOf('## Receive webhooks'));
  const blocks = [...client.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);
  assert.ok(blocks.length >= 7);
  const files = [
    ...sourcesIn('TypeScript').map(({ id, source }) => [`${id}.ts`, `${source}\nexport {};\n`] as const),
    ...blocks.map((code, index) => [`readme-${index}.ts`, readmeProgram(code)] as const),
  ];
  for (const [name, text] of files) fs.writeFileSync(path.join(project.folder, name), text);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    paths: { '@verbatim/sdk': [path.join(ROOT, 'sdk/src/index.ts')] },
  };
  const config = { compilerOptions, include: ['*.ts'] };
  fs.writeFileSync(path.join(project.folder, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(path.join(project.folder, 'tsconfig.json'), JSON.stringify(config));

  const { stdout } = spawnSync(process.execPath, [TSC, '-p', project.folder], { encoding: 'utf8' });

  assert.equal(stdout, '');
});

/** A block of the README with the names that blocks before it have made. */
function readmeProgram(code: string): string {
  const known = ['client', 'job', 'readPlace', 'save', 'storePlace'].filter(
    (name) => !new RegExp(`(const|\\[|,) ${name}\\b`).test(code.replace(/import [^;]*;/g, '')),
  );
  const types: Record<string, string> = {
    client: "import('@verbatim/sdk').Verbatim",
    job: "import('@verbatim/sdk').CompletedJob",
    readPlace: '() => Promise<string>',
    save: '(job: object) => Promise<void>',
    storePlace: '(place: string | null) => Promise<void>',
  };
  const head = known.map((name) => `declare const ${name}: ${types[name]};\n`).join('');
  return `${head}${code}\nexport {};\n`;
}

test('the samples in Python compile', {
  skip: HAS_PYTHON ? false : 'python3 is missing. Type: apt-get install python3',
}, () => {
  using project = openFolder();
  for (const { id, source } of sourcesIn('Python')) fs.writeFileSync(path.join(project.folder, `${id}.py`), source);
  const files = fs.readdirSync(project.folder).map((name) => path.join(project.folder, name));

  execFileSync('python3', ['-m', 'py_compile', ...files], { stdio: 'pipe' });
  assert.equal(files.length, operations.length);
});

test('the samples in Python call methods that the client has', () => {
  const groups = Object.fromEntries(
    ['client', 'jobs', 'webhooks', 'events', 'keys'].map((name) => [
      name,
      fs.readFileSync(path.join(PYTHON, `${name}.py`), 'utf8'),
    ]),
  );
  const files: Record<string, string> = { deliveries: 'webhooks', models: 'keys' };
  const missing = sourcesIn('Python').flatMap(({ id, source }) => {
    const [, group, method] = /\bclient\.(?:(\w+)\.)?(\w+)\(/.exec(source) ?? [];
    if (!source.includes('verbatim_sdk')) return [];
    const text = groups[files[group ?? ''] ?? group ?? 'client'] ?? '';
    return text.includes(`def ${method}(`) ? [] : [`${id}: ${group}.${method}`];
  });

  assert.deepEqual(missing, []);
});

test('the samples for a shell are one command each, with the path of the operation', () => {
  const shell = sourcesIn('Shell');
  const strange = shell.filter(
    ({ source }) =>
      spawnSync('sh', ['-n', '-c', source]).status !== 0 || !/^curl [\s\S]*"\$VERBATIM_URL\/[^"{}]*"/.test(source),
  );

  assert.deepEqual(strange, []);
});
