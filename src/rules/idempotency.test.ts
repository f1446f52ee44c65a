import assert from 'node:assert/strict';
import test from 'node:test';
import { evaluateKey, isIdempotencyKey, isKeptStatus, type KeyDecision, type StoredKey } from './idempotency.ts';

const ROUTE = 'POST /v1/webhooks';
const running: StoredKey = {
  route: ROUTE,
  fingerprint: null,
  isAnswered: false,
  isLeaseOver: false,
  isExpired: false,
  jobId: null,
};
const bound = { ...running, fingerprint: 'a', jobId: 'job_1' };
const answered = { ...running, fingerprint: 'a', isAnswered: true };

const CASES: {
  what: string;
  stored: StoredKey | null;
  route?: string;
  unread: KeyDecision;
  same: KeyDecision;
  other: KeyDecision;
}[] = [
  { what: 'a new key', stored: null, unread: 'run', same: 'run', other: 'run' },
  { what: 'a key in use', stored: running, unread: 'in_progress', same: 'in_progress', other: 'in_progress' },
  {
    what: 'a key in use elsewhere',
    stored: running,
    route: 'POST /x',
    unread: 'conflict',
    same: 'conflict',
    other: 'conflict',
  },
  {
    what: 'a key whose holder died early',
    stored: { ...running, isLeaseOver: true },
    unread: 'run',
    same: 'run',
    other: 'run',
  },
  {
    what: 'the same, elsewhere',
    stored: { ...running, isLeaseOver: true },
    route: 'POST /x',
    unread: 'run',
    same: 'run',
    other: 'run',
  },
  { what: 'a key with a job, in use', stored: bound, unread: 'in_progress', same: 'in_progress', other: 'in_progress' },
  {
    what: 'a key with a job whose holder died',
    stored: { ...bound, isLeaseOver: true },
    unread: 'read_body',
    same: 'resume',
    other: 'conflict',
  },
  { what: 'an answered key', stored: answered, unread: 'read_body', same: 'replay', other: 'conflict' },
  {
    what: 'an answered key elsewhere',
    stored: answered,
    route: 'POST /x',
    unread: 'conflict',
    same: 'conflict',
    other: 'conflict',
  },
  {
    what: 'an answered key after its time',
    stored: { ...answered, isExpired: true },
    unread: 'run',
    same: 'run',
    other: 'run',
  },
  {
    what: 'a job without an answer after its time',
    stored: { ...bound, isLeaseOver: true, isExpired: true },
    unread: 'run',
    same: 'run',
    other: 'run',
  },
  {
    what: 'a request that runs past the time of its key',
    stored: { ...running, isExpired: true },
    unread: 'in_progress',
    same: 'in_progress',
    other: 'in_progress',
  },
];
for (const { what, stored, route = ROUTE, unread, same, other } of CASES) {
  test(`${what}: ${unread} before the body is read, then ${same}, or ${other} for another body`, () => {
    const verdicts = [null, 'a', 'b'].map((fingerprint) => evaluateKey({ stored, route, fingerprint }));

    assert.deepEqual(verdicts, [unread, same, other]);
  });
}

test('a key has 1 to 255 printable ASCII characters', () => {
  const good = ['a', '!', '~', 'a b', 'x'.repeat(255)];
  const bad = ['', 'x'.repeat(256), 'é', 'a\tb', 'a\u007f', 'a\n'];

  assert.deepEqual(
    good.filter((key) => !isIdempotencyKey(key)),
    [],
  );
  assert.deepEqual(bad.filter(isIdempotencyKey), []);
});

test('an answer is kept, unless the request was refused before its processing began', () => {
  const statuses = [200, 201, 202, 204, 400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 503];

  assert.deepEqual(
    statuses.filter((status) => !isKeptStatus(status)),
    [400, 401, 402, 403, 404, 413, 415, 429, 500, 503],
  );
});
