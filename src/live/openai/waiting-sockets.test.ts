import assert from 'node:assert/strict';
import test from 'node:test';
import { WaitingSockets } from './waiting-sockets.ts';

test('an account has ten sockets that wait for audio, and all together 500', () => {
  const sockets = new WaitingSockets();
  const added = Array.from({ length: 50 }, (_, account) =>
    Array.from({ length: 11 }, () => sockets.add(`acct_${account}`)),
  );

  for (const ofAccount of added) {
    assert.deepEqual(
      ofAccount.map((each) => 'leave' in each),
      [...Array(10).fill(true), false],
    );
  }
  assert.deepEqual(sockets.add('acct_0'), { refused: 'account' });
  assert.deepEqual(sockets.add('acct_new'), { refused: 'all' });
});

test('a socket that leaves makes one place, however often it leaves', () => {
  const sockets = new WaitingSockets();
  const [first] = Array.from({ length: 10 }, () => sockets.add('acct_1'));
  assert.ok(first && 'leave' in first);
  for (let times = 0; times < 3; times++) first.leave();

  assert.ok('leave' in sockets.add('acct_1'));
  assert.deepEqual(sockets.add('acct_1'), { refused: 'account' });
});
