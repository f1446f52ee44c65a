import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../http/api-error.ts';
import { hashPassword, isPassword } from './password.ts';

test('a password is that of its hash, and another is not', async () => {
  const hash = await hashPassword('correct horse battery');

  assert.deepEqual(
    [await isPassword('correct horse battery', hash), await isPassword('correct horse batterY', hash)],
    [true, false],
  );
  assert.notEqual(hash, await hashPassword('correct horse battery'));
  assert.equal(hash, await hashPassword('correct horse battery', hash));
});

test('of a flood of passwords 40 are hashed, and the others are refused at once', async () => {
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => hashPassword('guess')));

  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.equal(refused.length, 20);
  assert.ok(refused.every((error) => error instanceof ApiError && error.type === 'unavailable'));
  assert.match(await hashPassword('guess'), /argon2id/);
});
