import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../../http/api-error.ts';
import { Attempts } from './attempts.ts';

const EMAIL = 'ada@example.com';

const guesser = (address: string, { email = EMAIL, knownUserId = null as string | null } = {}) => ({
  address,
  email,
  knownUserId,
});
const wrong = async (): Promise<never> => {
  throw new ApiError('unauthenticated', 'wrong');
};
const right = async (onlyUserId: string | null) => onlyUserId;

/** Wrong guesses at the email, from one address after another. */
async function guessWrong(attempts: Attempts, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) await assert.rejects(attempts.guess(guesser(address), wrong));
}

const manyOf = (count: number, address = (i: number) => `192.0.2.${i}`) =>
  Array.from({ length: count }, (_, i) => address(i));

test('an address that guesses the password of an email does not keep its owner out', async () => {
  const attempts = new Attempts();

  await guessWrong(
    attempts,
    manyOf(10, () => '192.0.2.7'),
  );

  await assert.rejects(attempts.guess(guesser('192.0.2.7'), right), isLimited);
  assert.equal(await attempts.guess(guesser('198.51.100.1'), right), null);
});

test('many addresses together do not guess the password of an email, and do not keep out a browser that is known', async () => {
  const attempts = new Attempts();

  await guessWrong(attempts, manyOf(100));

  await assert.rejects(attempts.guess(guesser('198.51.100.1'), right), isLimited);
  assert.equal(await attempts.guess(guesser('198.51.100.1', { email: 'bob@example.com' }), right), null);
  assert.equal(await attempts.guess(guesser('198.51.100.1', { knownUserId: 'usr_ada' }), right), 'usr_ada');
});

test('a known browser has ten wrong guesses of its own', async () => {
  const attempts = new Attempts();
  await guessWrong(attempts, manyOf(100));
  const known = guesser('198.51.100.1', { knownUserId: 'usr_ada' });

  for (let i = 0; i < 10; i++) await assert.rejects(attempts.guess(known, wrong), { type: 'unauthenticated' });

  await assert.rejects(attempts.guess(known, right), isLimited);
});

test('right guesses, and failures of the service, do not count', async () => {
  const attempts = new Attempts();
  const away = async (): Promise<never> => {
    throw new ApiError('unavailable', 'away');
  };

  for (let i = 0; i < 200; i++) {
    await attempts.guess(guesser('192.0.2.7'), right);
    await assert.rejects(attempts.guess(guesser('192.0.2.7'), away), { type: 'unavailable' });
  }
});

test('guesses at the same time are not more than the limit', async () => {
  const attempts = new Attempts();

  const results = await Promise.allSettled(
    manyOf(20, () => '192.0.2.7').map((address) => attempts.guess(guesser(address), wrong)),
  );

  const limited = results.filter((result) => result.status === 'rejected' && isLimited(result.reason));
  assert.equal(limited.length, 10);
});

test('the addresses of one /56 are one guesser', async () => {
  const attempts = new Attempts();

  await guessWrong(
    attempts,
    manyOf(10, (i) => `2001:db8:1:2${i}::1`),
  );

  await assert.rejects(attempts.guess(guesser('2001:db8:1:2f::9'), right), isLimited);
  assert.equal(await attempts.guess(guesser('2001:db8:1:300::1'), right), null);
});

test('a /48 with many addresses uses up neither the guesses of all, nor keeps others out', async () => {
  const attempts = new Attempts();
  const emails = manyOf(700, (i) => `user${i}@example.com`);
  const results = await Promise.allSettled(
    emails.map((email, i) =>
      attempts.guess(guesser(`2001:db8:1:${(i << 8).toString(16).slice(-4)}::1`, { email }), wrong),
    ),
  );
  const counted = results.filter((result) => result.status === 'rejected' && !isLimited(result.reason));
  await guessWrong(attempts, ['198.51.100.1']);

  assert.equal(counted.length, 200);
  assert.equal(await attempts.guess(guesser('198.51.100.1'), right), null);
});

test('a right token passes after any number of wrong ones, which count for no password', async () => {
  const attempts = new Attempts();
  const results = await Promise.allSettled(manyOf(700).map((address) => attempts.checkToken(address, wrong)));
  for (let i = 0; i < 61; i++) await assert.rejects(attempts.checkToken('192.0.2.7', wrong));

  assert.ok(results.some((result) => result.status === 'rejected' && !isLimited(result.reason)));
  await assert.rejects(attempts.checkToken('192.0.2.7', wrong), isLimited);
  assert.equal(await attempts.checkToken('192.0.2.7', () => 'right'), 'right');
  assert.equal(await attempts.guess(guesser('192.0.2.7'), right), null);
});

test('a wrong password of whoever is signed in counts for the session only', async () => {
  const attempts = new Attempts();
  await guessWrong(attempts, manyOf(100));

  assert.equal(await attempts.guessInSession('ses_1', async () => 1), 1);
});

function isLimited(error: unknown): boolean {
  return error instanceof ApiError && error.type === 'rate_limited';
}
