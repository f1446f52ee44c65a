import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../../http/api-error.ts';
import { hashPassword, isPassword } from './password.ts';

const by = (password: string, address = '192.0.2.7') => ({ password, address });

test('a password is that of its hash, and another is not', async () => {
  const hash = await hashPassword(by('correct horse battery'));

  assert.deepEqual(
    [await isPassword(by('correct horse battery'), hash), await isPassword(by('correct horse batterY'), hash)],
    [true, false],
  );
  assert.notEqual(hash, await hashPassword(by('correct horse battery')));
  assert.equal(hash, await hashPassword(by('correct horse battery'), hash));
});

test('of a flood of passwords of one address 40 are hashed, and those of others come in between', async () => {
  const ended: string[] = [];
  const flood = Array.from({ length: 120 }, () => hashPassword(by('guess')).finally(() => ended.push('flood')));
  const other = hashPassword(by('right', '198.51.100.1')).then(() => ended.push('other'));

  const results = await Promise.allSettled(flood);
  await other;

  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.equal(refused.length, 80);
  assert.ok(refused.every((error) => error instanceof ApiError && error.type === 'unavailable'));
  // The refused ones end at once, then the two that were under way, and the other address's, in the order of threads.
  assert.ok(ended.indexOf('other') < 80 + 20, String(ended.indexOf('other')));
  assert.match(await hashPassword(by('guess')), /argon2id/);
});
