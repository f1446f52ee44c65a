import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { formOf, openJobFixture } from '../../../test/fixtures/job.ts';
import { WARNING_MESSAGES } from '../../rules/jobs/warnings.ts';

const CONTEXT = { prompt: 'A lecture.', keywords: ['Kennedy', 'Cape Canaveral'] };
const FIELDS: [string, string][] = [
  ['prompt', 'A lecture.'],
  ['keywords', 'Kennedy'],
  ['keywords', 'Cape Canaveral'],
  ['language', 'EN'],
];
const unsupported = (name: 'prompt' | 'keywords') => ({
  code: `${name}_unsupported`,
  message: WARNING_MESSAGES[`${name}_unsupported`],
});

test('prompt and keywords reach an engine that takes them, and the job shows them everywhere', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine({ features: ['prompt', 'keywords'] });
  await fixture.startWorker(engine);

  const { status, json } = await fixture.post(
    account,
    '/v1/transcribe',
    formOf(wavFile(1), [...FIELDS, ['async', '1']]),
  );
  const call = await engine.nextCall();
  call.say('Kennedy spoke');
  const job = await fixture.ended(account, json.id);
  const list = await fixture.get(account, '/v1/jobs');
  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });

  const options = { language: 'en', ...CONTEXT };
  assert.deepEqual([status, json.options, json.warnings], [202, options, []]);
  assert.deepEqual([call.options.prompt, call.options.keywords], [CONTEXT.prompt, CONTEXT.keywords]);
  for (const shown of [job, list.json.data[0], JSON.parse(event!.body.toString()).data.job]) {
    assert.deepEqual([shown.status, shown.options, shown.warnings], ['completed', options, []]);
  }
});

test('a job whose engine takes neither completes with a warning for each, also in the payload and in lists', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));

  const { json } = await fixture.post(account, '/v1/transcribe', formOf(wavFile(1), FIELDS));
  const list = await fixture.get(account, '/v1/jobs');
  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });

  for (const shown of [json, list.json.data[0], JSON.parse(event!.body.toString()).data.job]) {
    assert.deepEqual([shown.status, shown.text], ['completed', 'hello']);
    assert.deepEqual(shown.warnings, [unsupported('prompt'), unsupported('keywords')]);
  }
});

test('an engine with one of the features gives one warning', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello', features: ['prompt'] }));

  const { json } = await fixture.post(account, '/v1/transcribe', formOf(wavFile(1), FIELDS));

  assert.deepEqual(json.warnings, [unsupported('keywords')]);
});

test('OpenAI clients send the same options, and an empty prompt is none', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine({ features: ['prompt', 'keywords'] });
  await fixture.startWorker(engine);
  const post = (fields: [string, string][]) =>
    fixture.post(account, '/v1/audio/transcriptions', formOf(wavFile(1), fields));

  const answers: Promise<{ status: number }>[] = [];
  const heard: unknown[] = [];
  for (const prompt of ['A lecture.', '']) {
    answers.push(post([['prompt', prompt], ...CONTEXT.keywords.map((word): [string, string] => ['keywords[]', word])]));
    const call = await engine.nextCall();
    heard.push([call.options.prompt, call.options.keywords]);
    call.say('hello');
  }
  const refused = await post([['keywords[]', 'a/b']]);

  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(heard, [
    ['A lecture.', CONTEXT.keywords],
    [undefined, CONTEXT.keywords],
  ]);
  assert.deepEqual([refused.status, refused.json.error.param], [400, 'keywords']);
});

test('a bad option creates no job, and 100 keywords fit into a form', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const words = Array.from({ length: 101 }, (_, i): [string, string] => ['keywords', `${'ख'.repeat(45)}${i}`]);
  const rest: [string, string][] = [
    ['async', '1'],
    ['metadata', JSON.stringify('m'.repeat(4_000))],
    ['prompt', 'ख'.repeat(1_000)],
  ];
  const post = (fields: [string, string][]) => fixture.post(account, '/v1/transcribe', formOf(wavFile(1), fields));

  const refused = await post([...words, ...rest]);
  const accepted = await post([...words.slice(1), ...rest]);
  const jobs = await fixture.db.rows<{ id: string }>({ text: 'select id from jobs' });

  assert.deepEqual([refused.status, refused.json.error.param], [400, 'keywords']);
  assert.deepEqual([accepted.status, accepted.json.options.keywords.length], [202, 100]);
  assert.deepEqual(jobs, [{ id: accepted.json.id }]);
});

test('what was asked for is erased with the job, also in its event', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const { json } = await fixture.post(account, '/v1/transcribe', formOf(wavFile(1), FIELDS));

  const erased = await fixture.erase(account, json.id);
  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });

  assert.equal(erased.status, 204);
  assert.ok(!event!.body.toString().includes('lecture') && !event!.body.toString().includes('Kennedy'));
});

test('where replacements make the text too long, the spoken words are kept, with a warning that says from where on', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);
  const to = '😀'.repeat(100);
  const many = 'a '.repeat(700).trim();
  const fields: [string, string][] = [
    ['replacements', JSON.stringify([{ from: 'a', to }])],
    ['async', '1'],
  ];

  const { json } = await fixture.post(account, '/v1/transcribe', formOf(wavFile(70), fields));
  const pieceSeconds = [];
  for (const text of ['a', many, 'a']) {
    const call = await engine.nextCall();
    pieceSeconds.push(call.piece.length / 16_000);
    call.say(text);
  }
  const job = await fixture.ended(account, json.id);

  assert.equal(job.text, `${to} ${many} a`);
  assert.deepEqual(
    job.warnings.map(({ code, start, end }: { code: string; start: number; end: number }) => [code, start, end]),
    [['text_cut', pieceSeconds[0], 70]],
  );
});
