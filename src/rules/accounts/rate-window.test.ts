import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/random.ts';
import { describeWindow, judgeAdmission, retryAfterSeconds } from './rate-window.ts';

const LIMIT = { count: 3, windowMs: 60_000 };
const NOW_MS = 1_000_000;

type Row = { what: string; agesMs: number[]; remaining: number; resetSeconds: number; retryAfter: number };

const ROWS: Row[] = [
  { what: 'nothing yet', agesMs: [], remaining: 3, resetSeconds: 0, retryAfter: 1 },
  { what: 'one just now', agesMs: [0], remaining: 2, resetSeconds: 60, retryAfter: 1 },
  { what: 'full just now', agesMs: [0, 0, 0], remaining: 0, resetSeconds: 60, retryAfter: 60 },
  { what: 'full, the oldest about to leave', agesMs: [59_999, 10, 0], remaining: 0, resetSeconds: 60, retryAfter: 1 },
  { what: 'full, the oldest leaves in 7 s', agesMs: [53_000, 10, 0], remaining: 0, resetSeconds: 60, retryAfter: 7 },
  { what: 'full, the oldest leaves in 6.001 s', agesMs: [53_999, 1, 1], remaining: 0, resetSeconds: 60, retryAfter: 7 },
  { what: 'the oldest left just now', agesMs: [60_000, 10, 0], remaining: 1, resetSeconds: 60, retryAfter: 1 },
  { what: 'all left', agesMs: [90_000, 61_000, 60_000], remaining: 3, resetSeconds: 0, retryAfter: 1 },
  { what: 'out of order', agesMs: [0, 53_000, 10], remaining: 0, resetSeconds: 60, retryAfter: 7 },
  { what: 'more than the limit allows now', agesMs: [50, 40, 30, 20], remaining: 0, resetSeconds: 60, retryAfter: 60 },
  { what: 'the clock went back', agesMs: [-5_000, -5_000, -5_000], remaining: 0, resetSeconds: 65, retryAfter: 65 },
];

for (const { what, agesMs, remaining, resetSeconds, retryAfter } of ROWS) {
  test(`a window with ${what}`, () => {
    const window = { admittedMs: agesMs.map((ageMs) => NOW_MS - ageMs), nowMs: NOW_MS, limit: LIMIT };

    assert.deepEqual(describeWindow(window), { limit: 3, remaining, resetSeconds });
    assert.equal(retryAfterSeconds(window), retryAfter);
    assert.equal(judgeAdmission(window).kind, remaining > 0 ? 'admitted' : 'refused');
  });
}

test('an admission is remembered, a refusal is not', () => {
  const admitted = judgeAdmission({ admittedMs: [NOW_MS - 60_000, NOW_MS - 9], nowMs: NOW_MS, limit: LIMIT });
  const refused = judgeAdmission({ admittedMs: [NOW_MS, NOW_MS, NOW_MS], nowMs: NOW_MS, limit: LIMIT });

  assert.deepEqual(admitted, {
    kind: 'admitted',
    admittedMs: [NOW_MS - 9, NOW_MS],
    state: { limit: 3, remaining: 1, resetSeconds: 60 },
  });
  assert.deepEqual(refused, {
    kind: 'refused',
    retryAfterSeconds: 60,
    state: { limit: 3, remaining: 0, resetSeconds: 60 },
  });
});

test('in no span of the window are more admitted than the limit, and after Retry-After one passes', () => {
  const random = randomFrom(429);
  for (let run = 0; run < 50; run++) {
    const limit = { count: 1 + random.integer(10), windowMs: 1000 * (1 + random.integer(60)) };
    const history: number[] = [];
    let admittedMs: number[] = [];
    let nowMs = 1_000_000;
    for (let request = 0; request < 300; request++) {
      nowMs += random.integer(Math.ceil((limit.windowMs / limit.count) * 1.5));
      const verdict = judgeAdmission({ admittedMs, nowMs, limit });
      if (verdict.kind === 'admitted') {
        admittedMs = verdict.admittedMs;
        history.push(nowMs);
      } else {
        const later = { admittedMs, nowMs: nowMs + verdict.retryAfterSeconds * 1000, limit };
        assert.equal(judgeAdmission(later).kind, 'admitted');
      }
      const inSpan = history.filter((atMs) => atMs > nowMs - limit.windowMs).length;
      assert.ok(inSpan <= limit.count);
    }
    assert.ok(history.length > 10);
  }
});
