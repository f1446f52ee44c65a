import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { checkedRoutes } from '../../../test/fixtures/checked-routes.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { ApiError } from '../../http/api-error.ts';
import { writeJson } from '../../platform/json.ts';
import type { SegmentChange } from '../../rules/jobs/transcript-edits.ts';
import { editRoutes } from './routes.ts';

const SEGMENTS = Array.from({ length: 20 }, (_, i) => ({ start: i, end: i + 1, text: `part ${i}`, confidence: null }));

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const [route] = checkedRoutes(editRoutes(fixture));
  return {
    fixture,
    account,
    async edit(id: string, segments: SegmentChange[]) {
      const call = { account, params: { id }, body: { segments }, actor: TEST_ACTOR, note: () => undefined };
      const answer = await route!.handle(call as never).catch((error: unknown) => error);
      return answer instanceof ApiError ? answer : JSON.parse(writeJson((answer as { body: unknown }).body));
    },
    /** A completed job with these segments. */
    async completed() {
      await fixture.startWorker(openFakeEngine({ says: 'hi' }));
      const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
      await fixture.ended(account, id);
      const text = 'update jobs set segments = $1 where id = $2';
      await fixture.db.run({ text, values: [JSON.stringify(SEGMENTS), id] });
      return id as string;
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('of edits at the same time none is lost, and their words are not those of the original', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, edit } = environment;
  const id = await environment.completed();

  await Promise.all(SEGMENTS.map((_, index) => edit(id, [{ index, text: `edited ${index}` }])));
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

test('text that PostgreSQL or UTF-8 cannot hold is stored without it', async () => {
  await using environment = await openEnvironment();
  const id = await environment.completed();

  const edited = await environment.edit(id, [{ index: 0, text: 'a\ud800b' }]);

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

  const tooLong = await edit(id, long);
  const notCompleted = await edit(open, [{ index: 0, text: 'x' }]);
  const after = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id } });

  assert.deepEqual([tooLong.type, notCompleted.type], ['too_large', 'conflict']);
  assert.equal(after.json.version, 'original');
});
