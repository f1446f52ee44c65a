import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { editRoutes } from '../edits/routes.ts';

const SEGMENTS = [
  { start: 0, end: 2, text: 'Hello?', speaker: 'A' },
  { start: 65.4, end: 67, text: 'Yes, *I* am.', speaker: 'B' },
];

/** A completed job with the segments. */
async function openEnvironment(segments: object[] = SEGMENTS) {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
  await fixture.ended(account, id);
  await fixture.db.run({
    text: 'update jobs set segments = $1 where id = $2',
    values: [JSON.stringify(segments), id],
  });
  return {
    fixture,
    read: (query: object) => fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query }),
    async edit(body: object) {
      const [route] = editRoutes(fixture);
      await route!.handle({ account, params: { id }, body, actor: TEST_ACTOR, note: () => undefined } as never);
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('a transcript as Markdown shows speakers by their names, or by none where the request says so', async () => {
  await using environment = await openEnvironment();
  const { read, edit } = environment;

  await edit({ speakers: { A: 'Anna' } });
  const answer = await read({ format: 'md' });
  const [plain, original, refused] = [
    ...[await read({ format: 'md', speakers: 'false' }), await read({ format: 'md', version: 'original' })],
    await read({ format: 'md', max_lines: 2 }),
  ];

  assert.equal(answer.contentType, 'text/markdown; charset=utf-8');
  assert.match(answer.headers!['content-disposition']!, /^attachment; filename="job_\w+\.md"$/);
  assert.match(answer.text, /^# .+\n\n.+ · edited\n\n\*\*00:00:00 Anna:\*\* Hello\?\n\n/);
  assert.match(answer.text, /\n\n\*\*00:01:05 Speaker B:\*\* Yes, \\\*I\\\* am\.\n$/);
  assert.match(plain!.text, /\n\*\*00:01:05\*\* Yes/);
  assert.match(original!.text, /\*\*00:00:00 Speaker A:\*\* Hello/);
  assert.deepEqual([refused!.status, refused!.json.error.param], [400, 'max_lines']);
});
