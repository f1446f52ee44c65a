import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { freePort } from '../../src/demo/service.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { temporaryFolder } from '../fixtures/service.ts';

test('a second demo in a folder goes on with the account and the webhook of the first', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'tones.wav');
  writeFileSync(file, toneWav('hello world'));
  const port = String(await freePort());

  const outputs = [await runDemo(folder, file, port), await runDemo(folder, file, port)];

  for (const output of outputs) assert.match(output, /Signature verified: [\s\S]*\n {4}hello world\n/);
  const [made, continued] = outputs.map((output) => /acct_\w+/.exec(output)?.[0]);
  assert.equal(continued, made);
  assert.match(outputs[1]!, /Continued with the account acct_\w+; its webhook wh_\w+ is now at https:/);
  assert.deepEqual(
    outputs.map((output) => /VERBATIM_API_KEY=(\S+)/.exec(output)?.[1]).map((key, _, all) => key === all[0]),
    [true, true],
  );
});

test('a demo whose account file was cut off makes another account', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'tones.wav');
  writeFileSync(file, toneWav('hello world'));
  mkdirSync(path.join(folder, 'data'));
  writeFileSync(path.join(folder, 'data/demo-account.json'), '{"id":"acct_');

  const output = await runDemo(folder, file, String(await freePort()));

  assert.match(output, /Created a pro account, acct_\w+/);
  assert.match(output, /Signature verified: /);
});

/** What the demo prints until it only runs on; it is stopped then. */
async function runDemo(folder: string, file: string, port: string): Promise<string> {
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  const settings = { PORT: port, DEMO_DATA_DIR: path.join(folder, 'data'), ENGINE_LITE: engine, ENGINE_PRO: engine };
  const demo = spawn(process.execPath, [path.join(ROOT, 'src/demo/main.ts'), file], {
    env: { ...process.env, ...settings, MODEL_DOWNLOAD: 'off' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const text of demo.stdout.setEncoding('utf8')) {
    output += text;
    if (output.includes('Ctrl-C stops the service.')) demo.kill('SIGINT');
  }
  if (demo.exitCode === null && demo.signalCode === null) await once(demo, 'close');
  return output;
}
