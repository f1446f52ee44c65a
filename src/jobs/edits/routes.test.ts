import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { checkedRoutes } from '../../../test/fixtures/checked-routes.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { ApiError } from '../../http/api-error.ts';
import { UNLIMITED_MEMORY } from '../../http/route.ts';
import { writeJson } from '../../platform/json.ts';
import { editRoutes } from './routes.ts';

const SEGMENTS = Array.from({ length: 20 }, (_, i) => ({ start: i, end: i + 1, text: `part ${i}`, confidence: null }));

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const [route] = checkedRoutes(editRoutes(fixture));
  return {
    fixture,
    account,
    async edit(id: string, body: object) {
      const call = { account, params: { id }, body, actor: TEST_ACTOR, note: () => undefined };
      const answer = await route!.handle(call as never).catch((error: unknown) => error);
      return answer instanceof ApiError ? answer : JSON.parse(writeJson((answer as { body: unknown }).body));
    },
    /** A completed job with these segments. */
    async completed(segments: object[] = SEGMENTS) {
      await fixture.startWorker(openFakeEngine({ says: 'hi' }));
      const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
      await fixture.ended(account, id);
      const text = 'update jobs set segments = $1 where id = $2';
      await fixture.db.run({ text, values: [JSON.stringify(segments), id] });
      return id as string;
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('of edits at the same time none is lost, and their words are not those of the original', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, edit } = environment;
  const id = await environment.completed();

  await Promise.all(SEGMENTS.map((_, index) => edit(id, { segments: [{ index, text: `edited ${index}` }] })));
  const { json } = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });
  const original = await fixture.get(account, '/v1/jobs/:id/transcript', {
    params: { id },
    query: { version: 'original' },
  });

  assert.equal(json.version, 'edited');
  assert.deepEqual(
    json.segments.map(({ text }: { text: string }) => text),
    SEGMENTS.map((_, index) => `edited ${index}`),
  );
  assert.deepEqual(original.json.segments, SEGMENTS);
});

test('an edit that another node saves meanwhile is not lost, and an edit that always comes too late is a conflict', async () => {
  await using environment = await openEnvironment();
  const { fixture, account } = environment;
  const id = await environment.completed();
  let saves = 1;
  const transaction: typeof fixture.db.transaction = async (work) => {
    const text = `update jobs set edits = jsonb_set(coalesce(edits, '{}'), '{5}', to_jsonb($1::text)) where id = $2`;
    if (saves-- > 0) await fixture.db.run({ text, values: [`elsewhere ${saves}`, id] });
    return await fixture.db.transaction(work);
  };
  const [route] = editRoutes({ ...fixture, db: { ...fixture.db, transaction } });
  const edit = async () => {
    const body = { segments: [{ index: 0, text: 'here' }] };
    const call = { account, params: { id }, body, note: () => undefined, memory: UNLIMITED_MEMORY };
    return (await route!.handle(call as never)).status;
  };

  assert.equal(await edit(), 200);
  const { json } = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });
  assert.deepEqual([json.segments[0].text, json.segments[5].text], ['here', 'elsewhere 0']);

  saves = 100;
  await assert.rejects(edit(), (error: ApiError) => error.type === 'conflict');
  assert.equal(saves, 90);
});

test('text that PostgreSQL or UTF-8 cannot hold is stored without it', async () => {
  await using environment = await openEnvironment();
  const id = await environment.completed();

  const edited = await environment.edit(id, { segments: [{ index: 0, text: 'a\ud800b' }] });

  assert.equal(edited.segments[0].text, 'a\ufffdb');
});

test('an edit that is much longer than the transcript is refused, and so is one of a job that has not ended', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, edit } = environment;
  // Before a worker runs, which could complete it first.
  const open = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json.id;
  await fixture.cancel(account, open);
  const id = await environment.completed();
  const long = SEGMENTS.map((_, index) => ({ index, text: 'x'.repeat(20_000) }));

  const tooLong = await edit(id, { segments: long });
  const notCompleted = await edit(open, { segments: [{ index: 0, text: 'x' }] });
  const after = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });

  assert.deepEqual([tooLong.type, notCompleted.type], ['too_large', 'conflict']);
  assert.equal(after.json.version, 'original');
});

test('named speakers are shown in all formats, their markup escaped, until they are unnamed', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, edit } = environment;
  const spoken = ['A', 'A', 'B'].map((speaker, i) => ({
    ...SEGMENTS[i],
    speaker,
    words: [{ start: i, end: i + 1, text: 'w', confidence: null, speaker }],
  }));
  const id = await environment.completed(spoken);
  const read = (query: object) => fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query });

  const unknown = await edit(id, { speakers: { C: 'Carl' } });
  const named = await edit(id, { speakers: { A: ' <b>An\u202ena\n', B: 'Bob' } });
  const [text, srt, vtt, plain, original] = [
    ...[await read({ format: 'text' }), await read({ format: 'srt' }), await read({ format: 'vtt' })],
    ...[await read({ format: 'vtt', speakers: 'false' }), await read({ version: 'original' })],
  ];
  const unnamed = await edit(id, { speakers: { A: null, B: null } });

  assert.deepEqual([unknown.type, unknown.param], ['invalid_request', 'speakers']);
  assert.deepEqual(named.speakers, { A: '<b>Anna', B: 'Bob' });
  assert.deepEqual([named.segments[0].speaker, named.segments[2].words[0].speaker], ['<b>Anna', 'Bob']);
  assert.equal(text!.text, '<b>Anna: part 0 part 1\nBob: part 2\n');
  assert.match(srt!.text, /\nBob: part 2\n/);
  assert.match(vtt!.text, /<v &lt;b&gt;Anna>part 0\n/);
  assert.doesNotMatch(plain!.text, /Anna/);
  assert.deepEqual(original!.json.segments, spoken);
  assert.deepEqual([unnamed.version, unnamed.segments], ['original', spoken]);
});

test('a merged speaker is shown as the other one in all formats and in search, until it is taken back', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, edit } = environment;
  const spoken = ['A', 'B', 'C'].map((speaker, i) => ({
    ...SEGMENTS[i],
    speaker,
    words: [{ start: i, end: i + 1, text: 'w', confidence: null, speaker }],
  }));
  const id = await environment.completed(spoken);
  const read = (query: object) => fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query });
  const voices = (shown: { segments: { speaker: string; words: { speaker: string }[] }[] }) =>
    shown.segments.map(({ speaker, words }) => `${speaker}${words[0]!.speaker}`);

  const merged = await edit(id, { merged_speakers: { B: 'A' } });
  const plain = await read({ format: 'text' });
  const named = await edit(id, { speakers: { A: 'Anna', B: 'Bob' } });
  const [text, vtt, md] = [await read({ format: 'text' }), await read({ format: 'vtt' }), await read({ format: 'md' })];
  const original = await read({ version: 'original' });
  const found = await fixture.get(account, '/v1/search', { query: { q: '"part 1"' } });
  const chained = await edit(id, { merged_speakers: { A: 'C' } });
  const apart = await edit(id, { merged_speakers: { A: null, B: null }, speakers: { A: null, B: null } });

  assert.deepEqual(
    [merged.version, voices(merged), merged.merged_speakers],
    ['edited', ['AA', 'AA', 'CC'], { B: 'A' }],
  );
  assert.equal(merged.speakers, undefined);
  assert.equal(plain.text, 'part 0 part 1 part 2\n');
  assert.deepEqual([voices(named), named.speakers], [['AnnaAnna', 'AnnaAnna', 'CC'], { A: 'Anna' }]);
  assert.equal(text.text, 'Anna: part 0 part 1\nC: part 2\n');
  assert.match(vtt.text, /<v Anna>part 1\n/);
  assert.match(md.text, /Anna[\s\S]*Speaker C/);
  assert.doesNotMatch(md.text, /Bob|Speaker B/);
  assert.deepEqual(original.json.segments, spoken);
  assert.equal(found.json.data[0].hits[0].speaker, 'Anna');
  assert.deepEqual([voices(chained), chained.merged_speakers], [['CC', 'CC', 'CC'], { B: 'C', A: 'C' }]);
  assert.deepEqual([apart.version, apart.segments, apart.merged_speakers], ['original', spoken, undefined]);
});

test('a speaker that the transcript does not have, and a merge into itself, are refused', async () => {
  await using environment = await openEnvironment();
  const { edit } = environment;
  const id = await environment.completed(['A', 'B'].map((speaker, i) => ({ ...SEGMENTS[i], speaker })));
  await edit(id, { merged_speakers: { B: 'A' } });

  const refused = [{ C: 'A' }, { A: 'C' }, { A: 'A' }, { A: 'B' }, { C: null }];
  const answers = [];
  for (const merged_speakers of refused) answers.push(await edit(id, { merged_speakers }));

  assert.deepEqual(
    answers.map(({ type, param }) => `${type} ${param}`),
    refused.map(() => 'invalid_request merged_speakers'),
  );
});

test('a merge that another node saves meanwhile is not lost', async () => {
  await using environment = await openEnvironment();
  const { fixture, account } = environment;
  const id = await environment.completed(['A', 'B', 'C'].map((speaker, i) => ({ ...SEGMENTS[i], speaker })));
  let isFirst = true;
  const transaction: typeof fixture.db.transaction = async (work) => {
    const text = `update jobs set speaker_merges = '{"C": "A"}' where id = $1`;
    if (isFirst) await fixture.db.run({ text, values: [id] });
    isFirst = false;
    return await fixture.db.transaction(work);
  };
  const [route] = editRoutes({ ...fixture, db: { ...fixture.db, transaction } });
  const body = { merged_speakers: { B: 'A' } };
  await route!.handle({ account, params: { id }, body, note: () => undefined, memory: UNLIMITED_MEMORY } as never);

  const { json } = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });

  assert.deepEqual(json.merged_speakers, { B: 'A', C: 'A' });
});
