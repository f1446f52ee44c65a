import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { apiDocument } from '../../scripts/api-document.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';

// A folder with the generators of clients, each of which may be missing: `.ci/run` makes it.
const tools = process.env['CLIENT_GENERATORS'];
const folder = temporaryFolder();
const PROGRAMS = path.join(import.meta.dirname, 'programs');
const TEXT = 'hello quiet world';
// What each program prints.
const ANSWERS = {
  uploaded: TEXT,
  read: TEXT,
  listed: true,
  transcript: TEXT,
  missing: 'not_found',
  secret: true,
  changed: 'changed',
  tested: true,
  webhooks: 1,
  deleted: 204,
  balance: true,
};

type Generator = {
  /** What must be there, in the folder of the tools. */
  needs: string;
  /** Generates the client. Its output may hold no warning. */
  generate(): Promise<string>;
  /** Runs the program with the client. Returns its output. */
  call(args: string[]): Promise<string>;
};

const GENERATORS: Record<string, Generator> = {
  'openapi-python-client': {
    needs: 'python/bin/openapi-python-client',
    generate: () =>
      run(tool('python/bin/openapi-python-client'), [
        ...['generate', '--path', 'openapi.json', '--output-path', 'python', '--fail-on-warning'],
      ]),
    async call(args) {
      cpSync(path.join(PROGRAMS, 'calls.py'), path.join(folder, 'python/calls.py'));
      return await run(tool('python/bin/python'), ['python/calls.py', ...args]);
    },
  },
  'openapi-typescript': {
    needs: 'node_modules/.bin/openapi-typescript',
    generate: () => run(tool('node_modules/.bin/openapi-typescript'), ['openapi.json', '-o', 'typescript/api.d.ts']),
    async call(args) {
      cpSync(path.join(PROGRAMS, 'calls.ts'), path.join(folder, 'typescript/calls.ts'));
      writeFileSync(path.join(folder, 'typescript/package.json'), '{"type":"module","imports":{"#api":"./api.d.ts"}}');
      symlinkSync(tool('node_modules'), path.join(folder, 'typescript/node_modules'));
      const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'esnext'];
      const types = ['--types', 'node', '--typeRoots', path.resolve(import.meta.dirname, '../../node_modules/@types')];
      await run(tool('node_modules/.bin/tsc'), [
        ...[...options, ...types, '--module', 'nodenext', '--moduleDetection', 'force', 'typescript/calls.ts'],
      ]);
      return await run(process.execPath, ['typescript/calls.ts', ...args]);
    },
  },
  'oapi-codegen': {
    needs: 'go/bin/oapi-codegen',
    generate() {
      writeFileSync(path.join(folder, 'go/config.yaml'), OAPI_CODEGEN_CONFIG);
      return run(tool('go/bin/oapi-codegen'), ['-config', 'go/config.yaml', 'openapi.json']);
    },
    async call(args) {
      cpSync(path.join(PROGRAMS, 'calls.go'), path.join(folder, 'go/calls.go'));
      for (const name of ['go.mod', 'go.sum']) cpSync(tool(`go/${name}`), path.join(folder, 'go', name));
      await run('go', ['build', '-C', 'go', '-o', 'calls', '.']);
      return await run(path.join(folder, 'go/calls'), args);
    },
  },
};

// Without `skip-prune` it leaves out the schemas that only webhooks have, and yet writes code that uses them.
const OAPI_CODEGEN_CONFIG = `package: verbatim
generate: { client: true, models: true }
output: go/verbatim/client.go
output-options: { skip-prune: true }
`;

let service: TestService;
let receiver: Awaited<ReturnType<typeof openReceiver>>;

before(async () => {
  if (!tools) return;
  receiver = await openReceiver();
  service = await openService({
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
  });
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(await apiDocument()));
  writeFileSync(path.join(folder, 'tone.wav'), toneWav(TEXT));
  for (const name of ['typescript', 'go/verbatim']) mkdirSync(path.join(folder, name), { recursive: true });
});

after(async () => {
  await service?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

for (const [name, { needs, generate, call }] of Object.entries(GENERATORS)) {
  const skip = tools && existsSync(tool(needs)) ? false : `CLIENT_GENERATORS names no folder with ${needs}`;

  test(`${name} generates a client without a warning, and one call of each kind works`, { skip }, async () => {
    const { key } = await service.account();

    const warnings = await generate();
    const printed = await call([service.baseUrl, key, path.join(folder, 'tone.wav'), receiver.url]);

    assert.doesNotMatch(warnings, /warn|error|skipp/i);
    assert.deepEqual(JSON.parse(printed), ANSWERS);
  });
}

function tool(name: string): string {
  return path.join(tools ?? '', name);
}

/** Runs a program in the folder. Resolves with what it printed; rejects with it where the program fails. */
async function run(command: string, args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${tool('python/bin')}:${process.env['PATH']}` };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: folder, env });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} failed:\n${stdout}\n${stderr}`.slice(0, 8_000));
  }
}
