import assert from 'node:assert/strict';
import test from 'node:test';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import type { ToChild } from '../messages.ts';
import { openReadiness } from './readiness.ts';

const config = { roles: ['api', 'deliverer'], toolsDir: null } as unknown as Config;
const db = { rows: async () => [] } as unknown as Database;

function open() {
  let tell: (message: ToChild) => void = () => undefined;
  const onMessage = (handler: typeof tell) => {
    tell = handler;
  };
  const readiness = openReadiness({ config, db, onMessage }, { whyAway: async () => null });
  const reasons = async () => (await readiness.check()).reasons.filter((reason) => !reason.startsWith('ffmpeg'));
  return { reasons, tell: (message: ToChild) => tell(message) };
}

test('a node is not ready before each of its roles has reported that it is ready', async () => {
  const { reasons, tell } = open();

  const before = await reasons();
  tell({ kind: 'statuses', statuses: { http: { ready: true, reasons: [] }, deliverer: { ready: true, reasons: [] } } });
  const after = await reasons();

  assert.deepEqual([before, after], [['The deliverer process is starting.'], []]);
});
