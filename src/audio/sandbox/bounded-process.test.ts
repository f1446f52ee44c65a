import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { childProcesses, isRunning } from '../../../test/fixtures/processes/children.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { decodePcm } from '../decode/decode.ts';
import { openSandboxed, runSandboxed } from './bounded-process.ts';

const bounds = { tools: TEST_TOOLS, memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 20 };
const wide = { ...bounds, wallMs: 60_000, stdoutMaxBytes: 2 ** 20 };
/** Arguments that make ffmpeg run without end and without output. */
const ENDLESS = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', 'sine=r=192000', '-f', 'null', '-'];
/** Arguments that make ffmpeg write samples without end. */
const FLOOD = [...ENDLESS.slice(0, -3), '-f', 's16le', 'pipe:1'];

test('a program within its limits returns its exit code and its output', async () => {
  const ran = await runSandboxed('ffmpeg', ['-hide_banner', '-version'], wide);

  assert.equal(ran?.code, 0);
  assert.match(ran.stdout, /^ffmpeg version/);
});

test('a program over its time limit is killed', async () => {
  assert.equal((await runSandboxed('ffmpeg', ENDLESS, { ...wide, wallMs: 200 }))?.code, null);
});

test('a program over its CPU limit is killed', async () => {
  assert.equal(await runSandboxed('ffmpeg', ENDLESS, { ...wide, cpuMaxSeconds: 1 }), null);
});

test('a program over its output limit is killed', async () => {
  assert.equal(await runSandboxed('ffmpeg', FLOOD, { ...wide, stdoutMaxBytes: 100_000 }), null);
});

test('a program gets no memory over its limit', async () => {
  const video = (size: string) => ENDLESS.with(ENDLESS.indexOf('-i') + 1, `color=s=${size}:d=1`);
  // Some versions of ffmpeg hang when an allocation fails.
  const small = { ...wide, memoryMaxBytes: 2 ** 29, wallMs: 5_000 };

  const ran = await runSandboxed('ffmpeg', video('16000x16000'), small);

  assert.notEqual(ran?.code ?? null, 0);
  assert.equal((await runSandboxed('ffmpeg', video('64x64'), small))?.code, 0);
});

test('a program cannot write a file', async () => {
  await using folder = await openTestFolder();
  const file = path.join(folder.path, 'written.wav');

  const ran = await runSandboxed('ffmpeg', [...ENDLESS.slice(0, -3), '-t', '1', file], wide);

  assert.notEqual(ran?.code ?? null, 0);
  assert.equal(existsSync(file) ? execFileSync('wc', ['-c', file], { encoding: 'utf8' }).split(' ')[0] : '0', '0');
});

test('an abort kills the program; the call rejects with the reason of the signal', async () => {
  const controller = new AbortController();
  const reason = new Error('the caller left');

  const running = runSandboxed('ffmpeg', ENDLESS, { ...wide, signal: controller.signal });
  await until('ffmpeg to run', () => childProcesses().length > 0);
  controller.abort(reason);

  await assert.rejects(running, reason);
});

test('closing kills the program and its children', async () => {
  const sandboxed = await openSandboxed('ffmpeg', ENDLESS, bounds);
  const [pid] = childProcesses();

  sandboxed.close();

  assert.equal((await sandboxed.ended).signal, 'SIGKILL');
  assert.equal(isRunning(pid!), false);
});

test('a decoder that writes nothing for too long is killed', async () => {
  await using folder = await openTestFolder();
  const pipe = path.join(folder.path, 'upload');
  execFileSync('mkfifo', [pipe]);

  const decoding = Array.fromAsync(decodePcm(pipe, { tools: TEST_TOOLS, maxAudioSeconds: 100, stallMaxMs: 200 }));

  await assert.rejects(decoding, { name: 'AudioError', message: /too much time or memory/ });
});
