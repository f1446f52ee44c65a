import assert from 'node:assert/strict';
import test from 'node:test';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import type { StartOrder, ToChild } from '../messages.ts';
import { openReadiness } from './readiness.ts';

const config = { roles: ['api', 'deliverer'], toolsDir: null } as unknown as Config;
const db = { rows: async () => [] } as unknown as Database;

function open(sandbox: StartOrder['sandbox'] = null) {
  let tell: (message: ToChild) => void = () => undefined;
  const onMessage = (handler: typeof tell) => {
    tell = handler;
  };
  const readiness = openReadiness(
    { config, db, onMessage, order: { sandbox } as StartOrder },
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
