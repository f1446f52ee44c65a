import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import test from 'node:test';
import { ApiError } from '../../http/api-error.ts';
import { OpenReads } from './open-reads.ts';

const open = async () => Readable.from(['audio']);

test('an account has eight open reads at most, until one of them is closed', async () => {
  const reads = new OpenReads();
  const streams = await Promise.all(Array.from({ length: 8 }, () => reads.open('acct_1', open)));

  const refused = await reads.open('acct_1', open).catch((error: unknown) => error);
  const ofOther = await reads.open('acct_2', open);
  streams[0]!.destroy();
  await once(streams[0]!, 'close');
  const again = await reads.open('acct_1', open);

  assert.ok(refused instanceof ApiError);
  assert.deepEqual([refused.status, refused.extra], [429, { retry_after: 5 }]);
  assert.ok(ofOther && again);
});

test('audio that is gone, or cannot be opened, takes no place', async () => {
  const reads = new OpenReads();
  for (let i = 0; i < 20; i++) {
    assert.equal(await reads.open('acct_1', async () => null), null);
    await assert.rejects(
      reads.open('acct_1', async () => {
        throw new Error('away');
      }),
      /away/,
    );
  }

  assert.ok(await reads.open('acct_1', open));
});
