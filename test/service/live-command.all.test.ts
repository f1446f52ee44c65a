import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { type CuttingProxy, openCuttingProxy } from '../fixtures/servers/cutting-proxy.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const folder = temporaryFolder();
const wav = path.join(folder, 'call.wav');
/** A folder with programs in place of those of this machine. */
const programs = path.join(folder, 'bin');
const SILENCE = Buffer.alloc(32_000);

let service: TestService;
let proxy: CuttingProxy;
let env: Record<string, string>;
const run = (args: string | string[], setup: Parameters<typeof runVerbatim>[1] = {}) =>
  runVerbatim(args, { ...setup, env: { ...env, PATH: `${programs}:/usr/bin:/bin`, ...setup.env } });

before(async () => {
  service = await openService({
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    RATE_LIMIT_LIVE: 'off',
  });
  proxy = await openCuttingProxy(service.baseUrl);
  const { key } = await service.account({ credits: 100 });
  env = { VERBATIM_URL: proxy.url, VERBATIM_API_KEY: key };
  fs.mkdirSync(programs);
  fs.writeFileSync(wav, toneWav('good morning'));
});

after(async () => {
  await proxy[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  fs.rmSync(folder, { recursive: true });
});

/** A program of this name that records the texts, and then silence until it is ended. */
function writeRecorder(name: string, texts: string[], then = 'while :; do cat silence; sleep 0.1; done'): void {
  const pcm = Buffer.concat(texts.flatMap((text) => [bytesOf(toneSpeech(text)), SILENCE]));
  fs.writeFileSync(path.join(programs, 'pcm'), pcm);
  fs.writeFileSync(path.join(programs, 'silence'), Buffer.alloc(3_200));
  const script = `#!/bin/sh\ncd ${programs}\necho "$@" > arguments\ncat pcm\n${then}\n`;
  fs.writeFileSync(path.join(programs, name), script, { mode: 0o755 });
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

test('the microphone is transcribed until Ctrl-C, a line for each segment', async () => {
  writeRecorder('arecord', ['hello world', 'again']);
  const stop = new AbortController();
  let printed = '';
  const onStdout = (text: string) => {
    printed += text;
    if (printed === 'hello world\nagain\n') stop.abort();
  };

  const { code, stdout, stderr } = await run('live --device hw:1', { signal: stop.signal, onStdout });

  assert.deepEqual([code, stdout], [0, 'hello world\nagain\n'], stderr);
  assert.match(stderr, /^Microphone hw:1 \(arecord\): Ctrl-C ends it\.\n.*credits {2}job_\w+\n$/s);
  assert.match(fs.readFileSync(path.join(programs, 'arguments'), 'utf8'), /-f S16_LE -c 1 -r 16000 -D hw:1/);
});

test('on a terminal the words are shown as they come, and make way for the final text', async () => {
  writeRecorder('arecord', ['good morning'], '');

  const { code, stdout } = await run('live --color never', { isTerminal: true });

  assert.equal(code, 0);
  assert.ok(stdout.endsWith('\r\u001b[K0:00  good morning\n') || stdout === '0:00  good morning\n', stdout);
});

test('a file is played at its own pace, and its captions are printed at the end', async () => {
  const startedAtMs = performance.now();

  const captions = await run(['live', '--file', wav, '-o', 'srt', '--language', 'en', '--metadata', '{"n":1}']);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const lines = (await run(['live', '--file', wav, '--json', '--words'])).stdout.trim().split('\n');

  assert.deepEqual([captions.code, captions.stderr.includes('0:00  good morning')], [0, true]);
  assert.match(captions.stdout, /^1\n00:00:00,000 --> .*\nGood morning|good morning\n/);
  assert.ok(seconds > fs.statSync(wav).size / 32_000, `${seconds} s`);
  const events = lines.map((line) => JSON.parse(line));
  const { event, job } = events.at(-1);
  assert.deepEqual(
    [event, job.status, job.text, job.options.timestamps],
    ['done', 'completed', 'good morning', 'word'],
  );
  assert.deepEqual(
    events.flatMap((each) => (each.event === 'segment' ? [each.words.length] : [])),
    [2],
  );
});

test('what ffmpeg decodes is played too, and the transcript is written to a file', async () => {
  const target = path.join(folder, 'talk.txt');
  const other = path.join(folder, 'talk.mp3');
  fs.writeFileSync(other, 'no WAV');
  writeRecorder('ffmpeg', ['hello world'], '');

  const { code, stdout, stderr } = await run(['live', '--file', other, '--out', target]);
  const again = await run(['live', '--file', other, '--out', target]);

  assert.deepEqual([code, stdout, fs.readFileSync(target, 'utf8')], [0, '', 'hello world\n'], stderr);
  assert.match(fs.readFileSync(path.join(programs, 'arguments'), 'utf8'), /-i \S+talk\.mp3 .*-f s16le -ac 1 -ar 16000/);
  assert.deepEqual([again.code, /exists: --force/.test(again.stderr)], [2, true]);
});

test('a cut of the connection loses no word', async () => {
  writeRecorder('arecord', ['hello world', 'good morning', 'again']);
  const stop = new AbortController();
  const [texts, notes]: string[][] = [[], []];
  const onStdout = (text: string) => {
    if (texts!.length === 0) proxy.cut();
    texts!.push(text);
    stopAtEnd();
  };
  const onStderr = (text: string) => {
    notes!.push(text);
    stopAtEnd();
  };
  const stopAtEnd = () => {
    if (texts!.length === 3 && notes!.some((note) => note === 'connected again\n')) stop.abort();
  };

  const { code, stdout, stderr } = await run('live', { onStdout, onStderr, signal: stop.signal });

  assert.deepEqual([code, stdout], [0, 'hello world\ngood morning\nagain\n']);
  assert.match(stderr, /connection is lost; the audio is kept.*\nconnected again\n/);
});

test('the microphone is recorded on while the service is away, however much waits', async () => {
  const gone = path.join(programs, 'gone');
  const recorded = path.join(programs, 'recorded');
  // More than a writer that waits for the service has space for.
  const audio = Buffer.alloc(2 * 2 ** 20);
  fs.writeFileSync(path.join(programs, 'more'), audio);
  writeRecorder(
    'arecord',
    ['again'],
    'while [ ! -e gone ]; do sleep 0.1; done; cat more; touch recorded; while :; do sleep 0.1; done',
  );
  const stop = new AbortController();
  const notes: string[] = [];
  const onStderr = (text: string) => {
    notes.push(text);
    if (text === 'connected again\n') stop.abort();
  };
  const running = run('live --json', { onStderr, signal: stop.signal });
  await until('the session', () => notes.some((text) => text.includes('Ctrl-C ends it')));

  proxy.away(true);
  fs.writeFileSync(gone, '');
  await until('the end of the recording', () => fs.existsSync(recorded));
  proxy.away(false);

  const { code, stdout } = await running;
  const { job } = JSON.parse(stdout.trim().split('\n').at(-1)!);
  assert.equal(code, 0);
  assert.ok(job.audio.duration_seconds > audio.length / 32_000);
});

test('the microphone is released when the session cannot begin', async () => {
  const released = path.join(programs, 'released');
  writeRecorder('arecord', ['again'], 'trap "touch released; exit" INT TERM; while :; do sleep 0.1; done');
  const { key } = await service.account({ credits: 0 });

  const { code } = await run('live', { env: { VERBATIM_API_KEY: key } });

  assert.equal(code, 6);
  await until('the end of the recorder', () => fs.existsSync(released));
});

test('without a recorder, without a microphone and without credits the command says so', async () => {
  const { stdout: before } = await run('jobs list -q --all');
  fs.rmSync(path.join(programs, 'arecord'), { force: true });
  fs.rmSync(path.join(programs, 'ffmpeg'), { force: true });
  const none = await run('live', { env: { PATH: programs } });
  const undecoded = await run(['live', '--file', path.join(folder, 'talk.mp3')], { env: { PATH: programs } });
  writeRecorder('arecord', [], 'echo "arecord: main:831: audio open error: No such device" >&2; exit 1');
  const silent = await run('live');
  const { key } = await service.account({ credits: 0 });
  const poor = await run(['live', '--file', wav], { env: { VERBATIM_API_KEY: key } });

  assert.deepEqual([none.code, undecoded.code, silent.code, poor.code], [1, 1, 1, 6]);
  assert.match(none.stderr, /install arecord \(in the package alsa-utils\) or ffmpeg, or give --file/);
  assert.match(undecoded.stderr, /install ffmpeg to decode it/);
  assert.match(silent.stderr, /arecord failed: .*No such device/);
  assert.equal((await run('jobs list -q --all')).stdout, before);
});
