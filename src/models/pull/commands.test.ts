import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type ModelFixture, openModelFixture, originsOf } from '../../../test/fixtures/model.ts';
import { CATALOGUE } from '../catalogue.ts';
import { pulledModels } from '../folder.ts';
import { list, type ModelsCommand, pull, remove } from './commands.ts';

const MAIN = path.join(import.meta.dirname, '../..', 'cli', 'main.ts');

test('the list has every model with its size, WER, languages and licence, and marks pulled ones', async () => {
  await using fixture = await openModelFixture('parakeet-110m');
  await fixture.pull();
  await mkdir(path.join(fixture.modelsDir, 'own-model'));

  const text = await run(fixture, (options) => list(false, options), CATALOGUE);

  const lines = text.split('\n');
  for (const { name, licence } of CATALOGUE) {
    const line = lines.find(
      (one) => one.includes(`  ${name} `) || one.startsWith(`* ${name}`) || one.includes(` ${name} `),
    );
    assert.ok(line?.includes(licence), name);
  }
  assert.match(text, /^\* {2}parakeet-110m {12}132 MB {3}7\.49 % {6}en {12}CC-BY-4\.0 /m);
  assert.match(text, /^ {3}parakeet-0\.6b-v3 {9}670 MB {3}6\.32 % {6}25 languages /m);
  assert.match(text, /^ {3}whisper-tiny .* 7\.54 % † \? /m);
  assert.match(text, /Put there by hand: own-model/);
});

test('the list is available as JSON', async () => {
  await using fixture = await openModelFixture();

  const models = JSON.parse(await run(fixture, (options) => list(true, options))) as Record<string, unknown>[];

  assert.equal(models.length, 1);
  assert.deepEqual([models[0]!['name'], models[0]!['isPulled'], models[0]!['sizeBytes']], ['tone', false, 316_000]);
});

test('a pull shows progress, attribution and usage; a second pull does nothing', async () => {
  await using fixture = await openModelFixture();

  const first = await run(fixture, (options) => pull('tone', options));
  const second = await run(fixture, (options) => pull('tone', options));

  assert.match(first, /^tone: 100 % of 0\.3 MB$/m);
  assert.match(first, /Licence: MIT; name this project\./);
  assert.match(first, /ENGINE_PRO=sherpa-onnx:tone/);
  assert.match(second, /already\. To download it again/);
});

test('a removed model is gone', async () => {
  await using fixture = await openModelFixture();
  await fixture.pull();

  const text = await run(fixture, (options) => remove('tone', options));

  assert.equal(text, 'tone is removed.\n');
  assert.deepEqual(await pulledModels(fixture.modelsDir), []);
});

test('the command uses DATA_DIR and HF_ENDPOINT, and reports errors in one line', async () => {
  await using fixture = await openModelFixture();
  const dataDir = path.dirname(fixture.modelsDir);
  const verbatim = (words: string[], hub: string) => {
    const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, HF_ENDPOINT: hub };
    return promisify(execFile)(process.execPath, [MAIN, 'models', ...words], { env });
  };

  const listed = await verbatim(['list'], fixture.hub.url);
  await assert.rejects(verbatim(['pull', 'whisper-tiny'], `${fixture.hub.url}/`), {
    code: 1,
    stderr: `verbatim: The hub at ${fixture.hub.url} answered 404 for csukuangfj/sherpa-onnx-whisper-tiny.\n`,
  });
  await assert.rejects(verbatim(['list'], 'ftp://example.com'), { stderr: /HF_ENDPOINT must begin with https/ });

  assert.match(listed.stdout, /silero-vad/);
});

async function run(
  fixture: ModelFixture,
  command: (options: ModelsCommand) => Promise<void>,
  catalogue = [fixture.model] as readonly (typeof fixture.model)[],
) {
  const written: string[] = [];
  await command({
    modelsDir: fixture.modelsDir,
    origins: originsOf(fixture.hub.url),
    screen: { write: (text: string) => written.push(text) },
    signal: new AbortController().signal,
    catalogue,
  });
  return written.join('');
}
