import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { reportEngine } from '../api/engine-store.ts';

test('a plan has no engine until one was ready for the first time', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();

  const before = (await fixture.get(account, '/v1/models/:id', { params: { id: 'pro' } })).json;
  await reportEngine(fixture.db, 'pro', engine);
  const after = (await fixture.get(account, '/v1/models/:id', { params: { id: 'pro' } })).json;

  assert.deepEqual([before.engine, after.engine], [null, engine.name]);
});
