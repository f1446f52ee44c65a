import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import { Verbatim } from '#sdk/client/index.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { type CuttingProxy, openCuttingProxy } from '../fixtures/servers/cutting-proxy.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const CLI = path.join(import.meta.dirname, '../../cli/main.ts');
const PAGE = path.join(import.meta.dirname, '../../docs/watch.md');
const SAID = { body: JSON.stringify({ text: 'Good morning', language: 'english' }) };

const speech = await openSpeechServer(SAID);
let service: TestService;
let proxy: CuttingProxy;
let env: Record<string, string>;
let folder: string;

before(async () => {
  const engine = `openai:${speech.baseUrl}`;
  service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine, RATE_LIMIT_TRANSCRIBE: 'off' });
  proxy = await openCuttingProxy(service.baseUrl);
});

/** Each test has an account and a folder of its own. */
beforeEach(async () => {
  const { key } = await service.account({ credits: 100 });
  env = { VERBATIM_URL: proxy.url, VERBATIM_API_KEY: key };
  folder = temporaryFolder();
});

after(async () => {
  await proxy[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
});

const at = (name: string) => path.join(folder, name);
const read = (name: string) => fs.readFileSync(at(name), 'utf8');
const namesIn = (name = '') => fs.readdirSync(at(name)).sort();

function put(name: string, content: Buffer | string = toneWav('abc')): void {
  fs.mkdirSync(path.dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content);
}

const watchOnce = (...options: string[]) =>
  runVerbatim(['watch', folder, '--once', '--interval', '0.2', ...options], { env });

/** A watcher that runs until the test stops it. Resolves to what it has printed. */
function startWatch(...options: string[]) {
  const stop = new AbortController();
  let errors = '';
  const onStderr = (text: string) => {
    errors += text;
  };
  const run = runVerbatim(['watch', folder, '--interval', '0.2', ...options], { env, signal: stop.signal, onStderr });
  return {
    errors: () => errors,
    stop: async () => {
      stop.abort();
      return await run;
    },
  };
}

/** The jobs of the account, newest first. */
async function jobs() {
  const { data } = await new Verbatim({ baseUrl: service.baseUrl, apiKey: env['VERBATIM_API_KEY']! }).jobs.list();
  return data;
}

async function firstJob(): Promise<string> {
  return await until('the job', async () => (await jobs())[0]?.id);
}

test('files of the folder and its subfolders get their transcripts once, in each format', async () => {
  put('call.wav');
  put('may/first/talk.wav', toneWav('de'));
  put('.hidden/talk.wav');
  put('notes.txt', 'no audio');

  const { code, stdout, stderr } = await watchOnce('-o', 'srt,md', '--metadata', '{"order":12345678901234567890}');
  const again = await watchOnce('-o', 'srt,md');

  assert.deepEqual([code, again.code, again.stdout], [0, 0, ''], stderr);
  assert.match(stdout, /^call\.wav {2}0:00 {2}\S+call\.srt {2}\S+call\.md$/m);
  assert.deepEqual(namesIn(), ['.hidden', 'call.md', 'call.srt', 'call.wav', 'may', 'notes.txt']);
  assert.deepEqual(namesIn('may/first'), ['talk.md', 'talk.srt', 'talk.wav']);
  assert.match(read('may/first/talk.srt'), /^1\n00:00:00,000 --> .*\nGood morning\n/);
  const files = (await jobs()).map(({ metadata }) => (metadata as Record<string, string>)['watch_file']);
  assert.deepEqual(files.sort(), ['call.wav', 'may/first/talk.wav']);
});

test('--out has the same folders, and files that differ in their endings keep them', async () => {
  put('in/a/call.wav');
  put('in/a/call.mp3', toneWav('de'));
  put('in/b/call.wav', toneWav('fg'));
  const words = ['watch', at('in'), '--out', at('out'), '--once', '--interval', '0.2', '-q'];

  const flat = await runVerbatim([...words, '--no-recursive'], { env });
  const { code, stdout } = await runVerbatim(words, { env });

  assert.deepEqual([flat.code, flat.stdout, code, stdout.trim().split('\n').length], [0, '', 0, 3]);
  assert.deepEqual(namesIn('out/a'), ['call.mp3.txt', 'call.wav.txt']);
  assert.deepEqual(namesIn('out/b'), ['call.txt']);
  assert.equal(read('out/b/call.txt'), 'Good morning\n');
});

test('a file that is written slowly is taken when it is complete, and files that come later too', async () => {
  const whole = toneWav('abcdefgh');
  const step = Math.ceil(whole.length / 30);
  put('call.wav', whole.subarray(0, step));
  const watcher = startWatch();
  let end = step;
  // All of it takes as long as seven looks.
  for await (const _ of setInterval(50)) {
    fs.appendFileSync(at('call.wav'), whole.subarray(end, end + step));
    end += step;
    if (end >= whole.length) break;
  }
  await until('the transcript', () => fs.existsSync(at('call.txt')));
  put('later/talk.wav', toneWav('de'));
  await until('the other transcript', () => fs.existsSync(at('later/talk.txt')));

  const { code } = await watcher.stop();

  assert.equal(code, 130);
  const sizes = (await jobs()).map(({ audio }) => audio.size_bytes);
  assert.deepEqual(sizes, [toneWav('de').length, whole.length]);
  assert.deepEqual(namesIn(), ['call.txt', 'call.wav', 'later']);
});

test('a watcher that is killed between upload and result is continued by the next one, with the same job', async () => {
  speech.answerAll('hold');
  put('call.wav');
  const args = [CLI, 'watch', folder, '--interval', '0.2', '-o', 'txt,json'];
  const first = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const jobId = await firstJob();
  first.kill('SIGKILL');
  await once(first, 'exit');
  const second = startWatch('-o', 'txt,json', '--json');
  speech.answerAll(SAID);
  speech.answerHeld(SAID);
  await until('the transcripts', () => fs.existsSync(at('call.json')) && fs.existsSync(at('call.txt')));

  const { stdout } = await second.stop();

  assert.equal(JSON.parse(stdout).job_id, jobId);
  assert.equal(JSON.parse(read('call.json')).id, jobId);
  assert.deepEqual([(await jobs()).length, namesIn()], [1, ['call.json', 'call.txt', 'call.wav']]);
});

test('a transcript that a crash has left out is fetched from the job that has it', async () => {
  put('call.wav');
  await watchOnce('-o', 'txt');

  const { code } = await watchOnce('-o', 'txt,vtt');

  assert.deepEqual([code, (await jobs()).length], [0, 1]);
  assert.match(read('call.vtt'), /^WEBVTT/);
});

test('a file that fails is reported once with the sentence of the service, and again when it changes', async () => {
  put('call.wav', 'no audio');
  put('talk.wav');

  const first = await watchOnce();
  const second = await watchOnce();
  const note = read('call.wav.failed.txt');
  put('call.wav', toneWav('de'));
  const third = await watchOnce();

  assert.deepEqual([first.code, second.code, second.stderr.includes('call.wav'), third.code], [1, 0, false, 0]);
  assert.match(first.stderr, /^call\.wav: .*not audio or video that can be decoded.*\(req_\w+\)$/m);
  assert.match(first.stdout, /^talk\.wav/m);
  assert.match(note, /^call\.wav was not transcribed: .*\nIt is tried again when/);
  assert.deepEqual(namesIn(), ['call.txt', 'call.wav', 'talk.txt', 'talk.wav']);
});

test('a job that was canceled is not repeated until its note is removed', async () => {
  speech.answerAll('hold');
  put('call.wav');
  const watcher = startWatch();
  const jobId = await firstJob();
  await runVerbatim(['jobs', 'cancel', jobId], { env });
  await until('the note', () => fs.existsSync(at('call.wav.failed.txt')));
  await watcher.stop();
  speech.answerAll(SAID);
  speech.answerHeld(SAID);

  const left = await watchOnce();
  fs.rmSync(at('call.wav.failed.txt'));
  const again = await watchOnce();

  assert.deepEqual([left.code, left.stdout, again.code, read('call.txt')], [0, '', 0, 'Good morning\n']);
  assert.equal((await jobs()).length, 2);
});

test('while the service is away the watcher says so once and waits', async () => {
  proxy.away(true);
  put('call.wav');
  const watcher = startWatch();
  await until('the reason', () => watcher.errors().includes('waiting: '));
  proxy.away(false);
  await until('the transcript', () => fs.existsSync(at('call.txt')));

  const { stderr } = await watcher.stop();

  assert.equal(stderr.match(/waiting: /g)?.length, 1, stderr);
  assert.ok(!fs.existsSync(at('call.wav.failed.txt')));
});

test('what a transcript lacks is said on standard error', async () => {
  put('call.wav');

  const { code, stderr } = await watchOnce('--words');

  assert.equal(code, 0);
  assert.match(stderr, /^call\.wav: words_unsupported: The engine gives no times of words here/m);
});

test('names that no file beside them can have get a line each, are not sent, and hold up no other file', async () => {
  const [long, longest] = ['a'.repeat(236), 'ü'.repeat(122)];
  for (const name of [`${long}.wav`, `${longest}.wav`, 'talk.ts']) put(name);
  const odd = Buffer.concat([Buffer.from(at('caf')), Buffer.from([0xe9]), Buffer.from('.wav')]);
  fs.writeFileSync(odd, toneWav('abc'));

  const { code, stdout, stderr } = await watchOnce();

  assert.deepEqual([code, stdout.trim().split('\n').length], [1, 2], stderr);
  assert.match(stderr, /^ü+\.wav: The name ü+\.wav\.failed\.txt is too long for a file: rename the audio\.$/m);
  assert.match(stderr, /caf\uFFFD\.wav is left out: its name is not UTF-8: rename it\.$/m);
  assert.deepEqual(
    [(await jobs()).length, read(`${long}.txt`), read('talk.txt')],
    [2, 'Good morning\n', 'Good morning\n'],
  );
});

test('a link at the place of a transcript is replaced, and what it names is not written', async () => {
  put('in/call.wav');
  put('secret', 'kept');
  fs.mkdirSync(at('out'));
  fs.symlinkSync(at('secret'), at('out/call.wav.failed.txt'));

  const { code } = await runVerbatim(['watch', at('in'), '--out', at('out'), '--once', '--interval', '0.2'], { env });
  const onlyOut = ['transcribe', at('in/call.wav'), '--out', at('out'), '-o', 'srt', '--force'];
  fs.symlinkSync(at('secret'), at('out/call.srt'));
  const transcribed = await runVerbatim(onlyOut, { env });

  assert.deepEqual([code, transcribed.code, read('secret')], [0, 0, 'kept']);
  assert.deepEqual(namesIn('out'), ['call.srt', 'call.txt']);
});

test('a transcript whose name is too long for a file is asked for by no job', async () => {
  put(`${'a'.repeat(251)}.wav`);

  const { code, stderr } = await runVerbatim(
    ['transcribe', at(`${'a'.repeat(251)}.wav`), '--out', at('out'), '-o', 'json'],
    { env },
  );

  assert.deepEqual([code, (await jobs()).length], [1, 0]);
  assert.match(stderr, /^verbatim: The name a+\.json is too long for a file: rename the audio\.$/m);
});

test('what no file would survive ends the command, and no file is noted as failed', async () => {
  put('call.wav');

  const noKey = await runVerbatim(['watch', folder, '--interval', '0.2'], {
    env: { ...env, VERBATIM_API_KEY: `vb_${'0'.repeat(40)}` },
  });
  const poor = await service.account({ credits: 0 });
  const noCredits = await runVerbatim(['watch', folder, '--interval', '0.2'], {
    env: { ...env, VERBATIM_API_KEY: poor.key },
  });
  const codes = [noKey, noCredits, await watchOnce('--language', 'xx-nonsense'), await watchOnce('-o', 'doc')];
  const absent = await runVerbatim(['watch', at('absent')], { env });

  assert.deepEqual(
    [...codes, absent].map(({ code }) => code),
    [4, 6, 2, 2, 5],
  );
  assert.deepEqual(namesIn(), ['call.wav']);
});

test('the unit of docs/watch.md is valid, and starts a command that works', async (t) => {
  const unit = /```ini\n(.*?)```/s.exec(fs.readFileSync(PAGE, 'utf8'))![1]!;
  const words = /^ExecStart=\S+\/bin\/verbatim (.*)$/m.exec(unit)![1]!.split(' ');
  put('call.wav');

  const command = words.map((word) => (word === '/srv/recordings' ? folder : word));
  const { code } = await runVerbatim([...command, '--once', '--interval', '0.2'], { env });

  assert.equal(code, 0);
  assert.deepEqual(namesIn(), ['call.md', 'call.srt', 'call.wav']);
  if (!fs.existsSync('/usr/bin/systemd-analyze')) return t.diagnostic('no systemd-analyze here');
  const file = at('verbatim-watch.service');
  fs.writeFileSync(
    file,
    unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`).replace(/^User=.*/m, 'User=root'),
  );
  assert.equal(execFileSync('systemd-analyze', ['verify', file], { encoding: 'utf8', stdio: 'pipe' }), '');
});
