import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { Output } from '../../terminal/output.ts';
import { openProgress } from './progress.ts';

test('a wait for the rate limit counts down, and a further refusal starts it again', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  const shown: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      const seconds = /waits (\d+) s for the rate limit/.exec(String(chunk))?.[1];
      if (seconds) shown.push(seconds);
      done();
    },
  });
  const stderr = Object.assign(sink, { isTTY: true, columns: 80 });
  const progress = openProgress(new Output({ stdout: stderr, stderr, env: {}, color: 'never' }), [{ label: 'a.wav' }]);

  progress.update(0, { phase: 'wait', part: 2 });
  for (let second = 0; second < 3; second++) t.mock.timers.tick(1_000);
  progress.update(0, { phase: 'wait', part: 5 });
  progress.end();
  t.mock.timers.tick(1_000);

  assert.deepEqual(shown, ['2', '1', '0', '0', '5']);
});
