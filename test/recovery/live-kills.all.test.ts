import assert from 'node:assert/strict';
import test from 'node:test';
import { liveKillProblems, runLiveKills } from '../faults/live-kills.ts';

// A short version; `node test/faults/run.ts --live --kills 200` is the long one.
test('live sessions lose nothing and repeat nothing when processes are killed', async () => {
  const report = await runLiveKills({ kind: 'embedded', seed: 75, kills: 4 });

  assert.deepEqual(liveKillProblems(report), []);
  assert.ok(report.connections > report.sessions, 'no session was resumed: nothing was tested');
});
