import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../test/fixtures/audio/wav.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { reportWaits } from '../jobs/waiting/wait-store.ts';
import { overviewRoutes } from './routes.ts';

test('the overview tells since when the engine of a plan is away, and how many jobs wait for it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const route = overviewRoutes({ ...fixture, version: '1.0.0' }).find(({ path }) => path === '/admin/v1/overview')!;
  // biome-ignore lint/suspicious/noExplicitAny: of a call only the route's own fields count, and it has none
  const waits = async () => ((await route.handle({} as any)) as any).body.waits;
  for (let sent = 0; sent < 2; sent++) await fixture.transcribe(account, wavFile(0.2), { async: 'true' });
  const before = await waits();

  await reportWaits(fixture.db, 'node/transcriber', [
    { plan: 'lite', waitingFor: null },
    { plan: 'pro', waitingFor: 'engine' },
  ]);
  const [{ since, ...away }, ...others] = await waits();

  assert.deepEqual([before, others], [[], []]);
  assert.deepEqual(away, { plan: 'pro', waiting_for: 'engine', jobs: 2 });
  assert.ok(Math.abs(Date.now() - Date.parse(since)) < 60_000);
});
