import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { childProcesses, isRunning } from '../../../test/fixtures/processes/children.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { decodePcm } from '../media/decode.ts';
import { openSandboxed, runSandboxed } from './bounded-process.ts';

const bounds = { tools: TEST_TOOLS, memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 20 };
const wide = { ...bounds, wallMs: 60_000, stdoutMaxBytes: 2 ** 20 };
/** Work without end, and no word about it. */
const ENDLESS = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', 'sine=r=192000', '-f', 'null', '-'];
/** Sound without end, as bytes. */
const FLOOD = [...ENDLESS.slice(0, -3), '-f', 's16le', 'pipe:1'];

test('work within its bounds ends with its code and what it wrote', async () => {
  const ran = await runSandboxed('ffmpeg', ['-hide_banner', '-version'], wide);

  assert.equal(ran?.code, 0);
  assert.match(ran.stdout, /^ffmpeg version/);
});

test('a program that runs longer than it may is ended', async () => {
  assert.equal((await runSandboxed('ffmpeg', ENDLESS, { ...wide, wallMs: 200 }))?.code, null);
});

test('a program that works harder than it may is ended', async () => {
  assert.equal(await runSandboxed('ffmpeg', ENDLESS, { ...wide, cpuMaxSeconds: 1 }), null);
});

test('a program that writes more than it may is ended', async () => {
  assert.equal(await runSandboxed('ffmpeg', FLOOD, { ...wide, stdoutMaxBytes: 100_000 }), null);
});

test('a program gets no more memory than it may have', async () => {
  const film = (size: string) => ENDLESS.with(ENDLESS.indexOf('-i') + 1, `color=s=${size}:d=1`);
  // Some versions of ffmpeg wait for ever when they get none.
  const small = { ...wide, memoryMaxBytes: 2 ** 29, wallMs: 5_000 };

  const ran = await runSandboxed('ffmpeg', film('16000x16000'), small);

  assert.notEqual(ran?.code ?? null, 0);
  assert.equal((await runSandboxed('ffmpeg', film('64x64'), small))?.code, 0);
});

test('a program can write no file', async () => {
  await using folder = await openTestFolder();
  const file = path.join(folder.path, 'written.wav');

  const ran = await runSandboxed('ffmpeg', [...ENDLESS.slice(0, -3), '-t', '1', file], wide);

  assert.notEqual(ran?.code ?? null, 0);
  assert.equal(existsSync(file) ? execFileSync('wc', ['-c', file], { encoding: 'utf8' }).split(' ')[0] : '0', '0');
});

test('an abort ends the program with the reason of the signal', async () => {
  const controller = new AbortController();
  const reason = new Error('the caller left');

  const running = runSandboxed('ffmpeg', ENDLESS, { ...wide, signal: controller.signal });
  await until('ffmpeg to run', () => childProcesses().length > 0);
  controller.abort(reason);

  await assert.rejects(running, reason);
});

test('closing ends the program and whatever it started', async () => {
  const sandboxed = await openSandboxed('ffmpeg', ENDLESS, bounds);
  const [pid] = childProcesses();

  sandboxed.close();

  assert.equal((await sandboxed.ended).signal, 'SIGKILL');
  assert.equal(isRunning(pid!), false);
});

test('a decoder that gives nothing for too long is ended', async () => {
  await using folder = await openTestFolder();
  const pipe = path.join(folder.path, 'upload');
  execFileSync('mkfifo', [pipe]);

  const decoding = Array.fromAsync(decodePcm(pipe, { tools: TEST_TOOLS, maxAudioSeconds: 100, stallMaxMs: 200 }));

  await assert.rejects(decoding, { name: 'AudioError', message: /too much time or memory/ });
});
