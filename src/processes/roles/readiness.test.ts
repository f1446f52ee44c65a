import assert from 'node:assert/strict';
import test from 'node:test';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { knownMigrations } from '../../db/schema/versions.ts';
import { VERSION } from '../../platform/installation.ts';
import { openMetrics } from '../../platform/metrics.ts';
import type { StartOrder, ToChild } from '../messages.ts';
import { openReadiness } from './readiness.ts';

const config = {
  roles: ['api', 'deliverer'],
  toolsDir: null,
  dataDir: '/',
  minFreeDiskBytes: 0,
  storageUrl: null,
} as unknown as Config;
const applied = knownMigrations().map((migration) => ({ ...migration, release: VERSION }));
const healthy = { rows: async () => applied, run: async () => 1 } as unknown as Database;

function open(sandbox: StartOrder['sandbox'] = null, { db = healthy, clock = openManualClock() } = {}) {
  let tell: (message: ToChild) => void = () => undefined;
  const onMessage = (handler: typeof tell) => {
    tell = handler;
  };
  const readiness = openReadiness(
    { config, db, clock, onMessage, metrics: openMetrics(), order: { sandbox, holder: 'node_1/http' } as StartOrder },
    { whyAway: async () => null },
  );
  const reasons = async () => (await readiness.check()).reasons.filter((reason) => !reason.startsWith('ffmpeg'));
  const details = async () => (await readiness.check()).details;
  return { reasons, details, tell: (message: ToChild) => tell(message) };
}

test('a node is not ready before each of its roles has reported that it is ready', async () => {
  const { reasons, tell } = open();

  const before = await reasons();
  tell({ kind: 'statuses', statuses: { deliverer: { ready: true, reasons: [] } } });
  const after = await reasons();

  assert.deepEqual([before, after], [['The deliverer process is starting.'], []]);
});

test('the details say which protections the sandbox of decoders has', async () => {
  const complete = open({ kind: 'bubblewrap', missing: [], reason: null });
  const partial = open({ kind: 'process', missing: ['files', 'network'], reason: 'bubblewrap: no permission' });

  assert.deepEqual(await complete.details(), ['The sandbox of decoders (bubblewrap) has all protections.']);
  assert.deepEqual(await partial.details(), [
    'The sandbox of decoders (process) lacks: files, network. Reason: bubblewrap: no permission.',
  ]);
  assert.deepEqual(await open().details(), []);
});

test('a database that takes no writes, and one with the schema of a much later release, are reasons', async () => {
  const demoted = open(null, { db: { ...healthy, run: () => Promise.reject({ code: '25006' }) } });
  const later = [...applied, { version: 9999, name: '9999_later.sql', sha256: 'aa', release: '99.0.0' }];
  const newer = open(null, { db: { ...healthy, rows: async () => later as never[] } });
  const ready: ToChild = { kind: 'statuses', statuses: { deliverer: { ready: true, reasons: [] } } };
  demoted.tell(ready);
  newer.tell(ready);

  assert.match((await demoted.reasons()).join(), /^The database takes no writes: it is a standby, or was demoted\./);
  assert.match((await newer.reasons()).join(), /^The database has schema 9999 of release 99\.0\.0, which is too new/);
});

test('a row is written at most every 4 s while that succeeds, and by each check while it fails', async () => {
  const clock = openManualClock();
  let writes = 0;
  let fails = false;
  const run = async () => {
    writes++;
    if (fails) throw Object.assign(new Error('full'), { code: '53100' });
    return 1;
  };
  const { reasons } = open(null, { clock, db: { ...healthy, run } });

  for (let check = 0; check < 4; check++) {
    await reasons();
    await clock.advance(1_999);
  }
  const succeeded = writes;
  fails = true;
  await clock.advance(4_000);
  for (let check = 0; check < 3; check++) assert.match((await reasons()).join(), /The disk of the database is full/);

  assert.deepEqual([succeeded, writes - succeeded], [2, 3]);
});
