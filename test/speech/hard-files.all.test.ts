import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { countWordErrors, type WordErrors, wordErrorRate } from '../../bench/speech/word-errors.ts';
import { openSherpa } from '../../src/engines/sherpa/sherpa.ts';
import { openVoiceDetector } from '../../src/engines/vad/vad.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { findProgram } from '../../src/platform/tools.ts';
import { SHERPA_OPTIONS } from '../fixtures/audio/sherpa-options.ts';
import { openTestFolder } from '../fixtures/audio/test-audio.ts';
import { openJobFixture } from '../fixtures/job.ts';
import { SPEECH_MODEL, withSpeechModel } from '../fixtures/speech-model.ts';
import { TEST_TOOLS } from '../fixtures/tools.ts';
import { type Clip, HARD_FILES, type HardFile } from './hard-files.ts';

// Moonshine tiny and Silero VAD on recordings of people. The table takes some 30 s on two cores.

const SLOTS = 2;
const CLIP_ERRORS_MAX = 6;
const START_TOLERANCE_SECONDS = 0.5;
const SPEECH = path.join(ROOT, 'assets/speech');
const run = promisify(execFile);

type Segment = { start: number; end: number; text: string; channel?: number };
type Job = { status: string; text: string; segments: Segment[]; warnings: { code: string }[] };

const texts = new Map(
  (JSON.parse(await readFile(path.join(SPEECH, 'texts.json'), 'utf8')) as { file: string; text: string }[]).map(
    ({ file, text }) => [file.replace('.wav', ''), text],
  ),
);
const open: AsyncDisposable[] = [];
let transcribe: (file: string, fields?: Record<string, string>) => Promise<Job>;
let folder: string;

before(async () => {
  if (withSpeechModel.skip) return;
  const files = await openTestFolder();
  const fixture = await openJobFixture();
  const modelsDir = path.dirname(SPEECH_MODEL);
  const engine = await openSherpa(SPEECH_MODEL, { ...SHERPA_OPTIONS, modelsDir: files.path, slots: SLOTS });
  await engine.warmUp();
  const detector = (await openVoiceDetector({ modelsDir, slots: SLOTS, tools: TEST_TOOLS, log: fixture.log }))!;
  open.push(files, engine, detector, fixture);
  await fixture.startWorker(engine, { detector, concurrency: SLOTS });
  const account = await fixture.account();
  folder = files.path;
  transcribe = async (file, fields = {}) => (await fixture.transcribe(account, await readFile(file), fields)).json;
});

after(async () => {
  for (const one of open.toReversed()) await one[Symbol.asyncDispose]();
});

test('the recordings are transcribed with few wrong words', withSpeechModel, async () => {
  const errors: WordErrors[] = [];
  for (const [name, text] of texts) {
    const job = await transcribe(path.join(SPEECH, `${name}.wav`));
    assert.deepEqual([job.status, job.warnings], ['completed', []], name);
    errors.push(countWordErrors(text, job.text));
  }

  const rate = wordErrorRate(errors);
  assert.ok(rate <= CLIP_ERRORS_MAX, `${rate} % of the words are wrong`);
});

for (const file of HARD_FILES) {
  test(`hard audio: ${file.title}`, withSpeechModel, async () => {
    const job = await transcribe(await make(file), file.fields);

    const where = JSON.stringify(job.segments);
    assert.equal(job.status, 'completed');
    assert.deepEqual(
      job.warnings.map(({ code }) => code),
      file.warns ?? [],
      where,
    );
    const { errors, words } = countWordErrors(saidIn(file), textOf(job));
    assert.ok(errors <= ((file.errorsMax ?? 0) * words) / 100, `${errors} of ${words} words are wrong: ${where}`);
    for (const start of file.startsAt ?? []) {
      const isThere = job.segments.some((segment) => Math.abs(segment.start - start) <= START_TOLERANCE_SECONDS);
      assert.ok(isThere, `no segment starts at ${start} s: ${where}`);
    }
    for (const { start, end } of job.segments) assert.ok(end - start <= 9, where);
  });
}

function saidIn({ says = [] }: HardFile): string {
  return says.map((clip) => texts.get(clip)).join(' ');
}

/** Of each channel in turn. */
function textOf({ segments }: Job): string {
  return segments
    .toSorted((one, other) => (one.channel ?? 0) - (other.channel ?? 0))
    .map(({ text }) => text)
    .join(' ');
}

async function make({ title, clips = [], sounds = [], made, filter, encode = [], extension = 'wav' }: HardFile) {
  const file = path.join(folder, `${title.replaceAll(/\W+/g, '-')}.${extension}`);
  const inputs = [
    ...clips.flatMap((clip: Clip) => ['-i', path.join(SPEECH, `${clip}.wav`)]),
    ...sounds.flatMap((sound) => ['-f', 'lavfi', '-i', sound]),
    ...(made ? ['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', await store(made(), `${file}.pcm`)] : []),
  ];
  const graph = filter ? ['-filter_complex', filter, '-map', '[out]'] : [];
  await run(findProgram(TEST_TOOLS, 'ffmpeg')!, ['-v', 'error', '-y', ...inputs, ...graph, ...encode, file]);
  return file;
}

/** At half of full scale. */
async function store(sound: Float64Array, file: string): Promise<string> {
  const peak = sound.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  await writeFile(
    file,
    Int16Array.from(sound, (value) => (16_000 * value) / peak),
  );
  return file;
}
