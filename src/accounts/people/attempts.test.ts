import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../../http/api-error.ts';
import { Attempts } from './attempts.ts';

const EMAIL = 'ada@example.com';

test('an address that guesses the password of an email does not keep its owner out', () => {
  const attempts = new Attempts();

  for (let guess = 0; guess < 10; guess++) attempts.add('192.0.2.7', EMAIL);

  assert.throws(() => attempts.add('192.0.2.7', EMAIL), isLimited);
  attempts.add('198.51.100.1', EMAIL);
});

test('many addresses together do not guess the password of an email', () => {
  const attempts = new Attempts();

  for (let guess = 0; guess < 100; guess++) attempts.add(`192.0.2.${guess}`, EMAIL);

  assert.throws(() => attempts.add('198.51.100.1', EMAIL), isLimited);
  attempts.add('198.51.100.1', 'bob@example.com');
});

function isLimited(error: unknown): boolean {
  return error instanceof ApiError && error.type === 'rate_limited';
}
