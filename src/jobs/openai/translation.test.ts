import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { formOf, openJobFixture } from '../../../test/fixtures/job.ts';
import { reportEngine } from '../api/engine-store.ts';

const fixture = await openJobFixture();
const account = await fixture.account();
test.after(() => fixture[Symbol.asyncDispose]());

const TRANSLATIONS = '/v1/audio/translations';
const post = (route: string, fields: Record<string, string>) =>
  fixture.post(account, route, formOf(wavFile(1), Object.entries(fields)));

test('a translation reaches the engine, and the job shows the spoken language and that of its text', async () => {
  const engine = openFakeEngine({ features: ['translate'] });
  const worker = await fixture.startWorker(engine);

  const answer = post('/v1/transcribe', { translate_to: 'en', timestamps: 'word' });
  const call = await engine.nextCall();
  const segment = { text: 'good morning', startSeconds: 0, endSeconds: 1, confidence: null, words: [] };
  call.answer({ language: 'de', segments: [segment] });
  const { json: job } = await answer;
  const { json: file } = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id: job.id } });
  const plain = post('/v1/transcribe', {});
  const plainCall = await engine.nextCall();
  plainCall.say('guten morgen');
  const { json: plainJob } = await plain;
  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events order by id limit 1' });
  await worker.stop();

  assert.deepEqual([call.options.translateTo, plainCall.options.translateTo], ['en', undefined]);
  assert.deepEqual([job.language, job.translated_to, job.text], ['de', 'en', 'good morning']);
  assert.deepEqual(job.options, { timestamps: 'word', translate_to: 'en' });
  assert.deepEqual(
    job.warnings.map(({ code }: { code: string }) => code),
    ['words_unsupported'],
  );
  assert.deepEqual(job.segments[0].words, []);
  assert.deepEqual([file.language, file.translated_to], ['de', 'en']);
  assert.equal(plainJob.translated_to, null);
  assert.equal(JSON.parse(event!.body.toString()).data.job.translated_to, 'en');
});

test("OpenAI's translations are the same, in all formats", async () => {
  const engine = openFakeEngine({ features: ['translate', 'prompt'] });
  const worker = await fixture.startWorker(engine);
  const ask = async (fields: Record<string, string>) => {
    const answer = post(TRANSLATIONS, fields);
    const call = await engine.nextCall();
    call.say('good morning');
    return { call, ...(await answer) };
  };

  const json = await ask({ model: 'whisper-1', prompt: 'A lecture.', temperature: '0' });
  const verbose = await ask({ response_format: 'verbose_json', language: 'de' });
  const text = await ask({ response_format: 'text' });
  const srt = await ask({ response_format: 'srt' });
  await worker.stop();

  assert.deepEqual(json.json, { text: 'good morning', usage: { type: 'duration', seconds: 1 } });
  assert.deepEqual([json.call.options.translateTo, json.call.options.prompt], ['en', 'A lecture.']);
  assert.equal(verbose.call.options.language, 'de');
  const { task, language, segments, words } = verbose.json;
  assert.deepEqual([task, language, segments.length, words], ['translate', 'english', 1, undefined]);
  assert.equal(text.text, 'good morning\n');
  assert.match(srt.text, /^1\n00:00:00,000 --> 00:00:01,000\ngood morning\n/);
});

test('an engine that cannot translate is a 400 that names the field, and no job is created', async () => {
  await reportEngine(fixture.db, 'pro', { ...openFakeEngine(), features: ['words'] });
  const before = await fixture.files();

  const refused = [
    await post('/v1/transcribe', { translate_to: 'en' }),
    await post('/v1/transcribe', { translate_to: 'en', async: 'true' }),
    await post('/v1/transcribe', { translate_to: 'de' }),
    await post('/v1/audio/transcriptions', { translate_to: 'en' }),
    await post(TRANSLATIONS, {}),
    await post(TRANSLATIONS, { stream: 'true' }),
    await post(TRANSLATIONS, { response_format: 'diarized_json' }),
  ];
  const after = await fixture.files();

  assert.deepEqual(
    refused.map(({ status, json }) => [status, json.error.param]),
    [
      [400, 'translate_to'],
      [400, 'translate_to'],
      [400, 'translate_to'],
      [400, 'translate_to'],
      [400, 'model'],
      [400, 'stream'],
      [400, 'response_format'],
    ],
  );
  assert.match(refused[0]!.json.error.message, /^The engine of the pro plan cannot translate/);
  assert.match(refused[2]!.json.error.message, /must be en/);
  assert.deepEqual(after, before);
});

test('a job that finds an engine without translation fails without using it', async () => {
  const unknown = await fixture.account({ plan: 'lite' });
  const engine = openFakeEngine({ says: 'guten morgen' });
  const worker = await fixture.startWorker(engine);

  const { status, json } = await fixture.post(unknown, '/v1/transcribe', formOf(wavFile(1), [['translate_to', 'en']]));
  const job = await fixture.job(unknown, json.job_id);
  await worker.stop();

  assert.deepEqual([status, job.error.type, job.translated_to, job.cost], [500, 'engine_error', null, 0]);
  assert.match(job.error.message, /cannot translate\. Send the audio without translate_to\.$/);
  assert.equal(engine.count(), 0);
});
