import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../http/api-error.ts';
import { hashPassword, isPassword } from './password.ts';

test('a password is that of its hash, another is not, and without a hash none is', async () => {
  const hash = await hashPassword('correct horse battery');

  assert.deepEqual(
    [
      await isPassword('correct horse battery', hash),
      await isPassword('correct horse batterY', hash),
      await isPassword('correct horse battery', null),
    ],
    [true, false, false],
  );
  assert.notEqual(hash, await hashPassword('correct horse battery'));
});

test('of a flood of passwords 40 are hashed, and the others are refused at once', async () => {
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => isPassword('guess', null)));

  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.equal(refused.length, 20);
  assert.ok(refused.every((error) => error instanceof ApiError && error.type === 'unavailable'));
  assert.equal(await isPassword('guess', null), false);
});
