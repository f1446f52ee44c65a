import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { FALLBACK_ENGINE } from '../../engines/engine.ts';
import { reportEngine } from '../api/engine-store.ts';

test('a plan whose engine is the fallback says so, with the command for a better one', async () => {
  await using fixture = await openJobFixture({ VERBATIM_COMMAND: 'bin/verbatim' });
  const account = await fixture.account();
  await reportEngine(fixture.db, 'lite', { ...openFakeEngine(), name: FALLBACK_ENGINE });

  const unknown = (await fixture.get(account, '/v1/models/:id', { params: { id: 'pro' } })).json;
  await reportEngine(fixture.db, 'pro', openFakeEngine());
  const { data } = (await fixture.get(account, '/v1/models')).json;

  assert.deepEqual([unknown.quality, unknown.upgrade_command], [null, null]);
  assert.deepEqual(
    data.map((model: Record<string, unknown>) => [model['id'], model['quality'], model['upgrade_command']]),
    [
      ['lite', 'fallback', 'bin/verbatim models pull parakeet-110m'],
      ['pro', 'standard', null],
    ],
  );
});
