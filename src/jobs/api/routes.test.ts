import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';

const AUDIO = wavFile(0.1);

test('jobs are listed newest first, page by page, without segments, also while new jobs arrive', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await fixture.transcribe(account, AUDIO, { async: '1' })).json.id);

  const first = (await fixture.get(account, '/v1/jobs', { query: { limit: 2 } })).json;
  await fixture.transcribe(account, AUDIO, { async: '1' });
  const second = (await fixture.get(account, '/v1/jobs', { query: { limit: 2, cursor: first.next_cursor } })).json;
  const third = (await fixture.get(account, '/v1/jobs', { query: { limit: 2, cursor: second.next_cursor } })).json;

  const shown = [first, second, third].flatMap((page) => page.data.map((job: { id: string }) => job.id));
  assert.deepEqual(shown, ids);
  assert.deepEqual([first.has_more, third.has_more, third.next_cursor], [true, false, null]);
  assert.ok(!('segments' in first.data[0]) && 'text' in first.data[0]);
});

test('the list is filtered by state, plan and time', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const lite = (await fixture.transcribe(account, AUDIO, { async: '1', plan: 'lite' })).json;
  const pro = (await fixture.transcribe(account, AUDIO, { async: '1' })).json;
  const idsOf = async (query: object) =>
    (await fixture.get(account, '/v1/jobs', { query })).json.data.map((job: { id: string }) => job.id);

  assert.deepEqual(await idsOf({ plan: 'lite' }), [lite.id]);
  assert.deepEqual(await idsOf({ status: 'queued' }), [pro.id, lite.id]);
  assert.deepEqual(await idsOf({ status: 'completed' }), []);
  assert.deepEqual(await idsOf({ created_after: '2999-01-01T00:00:00Z' }), []);
  assert.deepEqual(await idsOf({ created_before: '2999-01-01' }), [pro.id, lite.id]);
});

test('a job is neither after nor before the time that it shows', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { json } = await fixture.transcribe(account, AUDIO, { async: '1' });
  await fixture.db.run({ text: "update jobs set created_at = date_trunc('second', created_at) + interval '5.0007 s'" });
  const { created_at } = await fixture.job(account, json.id);
  const count = async (query: object) => (await fixture.get(account, '/v1/jobs', { query })).json.data.length;

  const justBefore = new Date(Date.parse(created_at) - 1).toISOString();
  assert.deepEqual([await count({ created_after: created_at }), await count({ created_before: created_at })], [0, 0]);
  assert.equal(await count({ created_after: justBefore }), 1);
});

const WRONG_TIMES = [
  { created_after: 'yesterday' },
  { created_before: '2026-13-01' },
  { created_after: '1' },
  { created_before: '2026-01-01', created_after: '2026-01-01T00:00:00.001Z' },
];
for (const query of WRONG_TIMES) {
  test(`a list request with ${JSON.stringify(query)} is rejected with the name of the parameter`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();

    const answer = await fixture.get(account, '/v1/jobs', { query });

    assert.deepEqual([answer.status, answer.json.error.param], [400, Object.keys(query)[0]]);
  });
}

test('a job of another account, a malformed id and an unknown id get the same 404', async () => {
  await using fixture = await openJobFixture();
  // In one shard, so that only the account keeps them apart.
  const [owner, stranger] = [await fixture.account({ shard: 5 }), await fixture.account({ shard: 5 })];
  const { id } = (await fixture.transcribe(owner, AUDIO, { async: '1' })).json;

  const asked = [id, 'job_00000000000000000000000000', 'nonsense'];
  const answers = await Promise.all(
    asked.map((name) => fixture.get(stranger, '/v1/jobs/:id', { params: { id: name } })),
  );

  assert.deepEqual(new Set(answers.map((answer) => answer.text)).size, 1);
  assert.equal(answers[0]!.status, 404);
  assert.equal((await fixture.get(stranger, '/v1/jobs')).json.data.length, 0);
});

test('a request for the transcript of a job that is not completed is answered 409', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: '1' })).json;

  const answer = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });

  assert.deepEqual([answer.status, answer.json.error.type], [409, 'conflict']);
});

test('the JSON transcript is a file with text, language, duration and segments', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  const { id } = (await fixture.transcribe(account, AUDIO)).json;

  const answer = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });

  assert.deepEqual(answer.json, {
    version: 'original',
    text: 'hi',
    language: 'en',
    translated_to: null,
    duration_seconds: 0.1,
    edited_at: null,
    segments: [{ start: 0, end: 0.1, text: 'hi', confidence: 0.93 }],
  });
  assert.equal(answer.headers['content-disposition'], `attachment; filename="${id}.json"`);
});
