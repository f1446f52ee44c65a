import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNameServerAnswer } from './name-servers.ts';

test('a name that does not exist was answered; time-outs, refused connections and SERVFAIL were not', () => {
  const answered = ['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ENOTIMP'];
  const unanswered = ['ETIMEOUT', 'ECONNREFUSED', 'ESERVFAIL', 'ECANCELLED', 'EAI_AGAIN', undefined];

  assert.deepEqual(
    answered.map((code) => isNameServerAnswer({ code })),
    [true, true, true, true],
  );
  assert.ok(!unanswered.some((code) => isNameServerAnswer({ code })));
});
