import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

// The Python of an environment with sdk/python/requirements-dev.txt: `.ci/run` makes it.
const python = process.env['PYTHON_SDK'];
const skip = python ? false : 'PYTHON_SDK names no Python; make an environment with sdk/python/requirements-dev.txt';
const FOLDER = path.join(import.meta.dirname, '../../sdk/python');
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

for (const [tool, ...args] of [['ruff', 'check'], ['ruff', 'format', '--check'], ['mypy']]) {
  test(`the Python client passes ${[tool, ...args].join(' ')}`, { skip }, async () => {
    const { code, report } = await runPython(['-m', tool!, ...args]);

    assert.equal(code, 0, report);
  });
}

test('the tests of the Python client pass, against a running service', { skip }, async () => {
  await using environment = await openEnvironment();

  const { code, report } = await runPython(['-m', 'pytest'], environment.variables);

  assert.equal(code, 0, report.slice(-20_000));
  assert.match(report, /^\d{3,} passed/m);
  assert.doesNotMatch(report, /skipped/);
});

/** A service with stored audio and without rate limits, an account, a receiver and a recording. */
async function openEnvironment() {
  const receiver = await openReceiver();
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const audio = path.join(dataDir, 'tone.wav');
  writeFileSync(audio, toneWav('hello quiet world'));
  const limits = ['TRANSCRIBE', 'BALANCE', 'JOBS', 'DEFAULT', 'RESEND', 'LIVE'].map((name) => [
    `RATE_LIMIT_${name}`,
    'off',
  ]);
  const service = await openService(
    {
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      AUDIO_RETENTION_HOURS: '1',
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      ...Object.fromEntries(limits),
    },
    dataDir,
  );
  const { key } = await service.account({ credits: 1_000 });
  return {
    variables: {
      VERBATIM_URL: service.baseUrl,
      VERBATIM_API_KEY: key,
      VERBATIM_TEST_AUDIO: audio,
      VERBATIM_TEST_RECEIVER: receiver.url,
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

async function runPython(args: string[], variables: Record<string, string> = {}) {
  const caches = {
    PYTHONDONTWRITEBYTECODE: '1',
    RUFF_NO_CACHE: 'true',
    MYPY_CACHE_DIR: path.join(os.tmpdir(), 'mypy'),
  };
  const env = { ...process.env, ...caches, ...variables };
  const run = promisify(execFile)(python!, args, { cwd: FOLDER, env, maxBuffer: MAX_OUTPUT_BYTES });
  const done = await run.catch((error: { code: number; stdout: string; stderr: string }) => error);
  const code = 'code' in done ? done.code : 0;
  return { code, report: done.stdout + done.stderr };
}
