import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOUNDS, brokenBounds } from './bounds.ts';

test('the bounds are in order', () => {
  assert.deepEqual(brokenBounds(BOUNDS), []);
});

for (const { title, change, why } of [
  {
    title: 'a statement that ends when the client gives it up',
    change: { queryTimeoutMs: 3_500 },
    why: /outcome is unknown/,
  },
  {
    title: 'a request that is answered when its statement ends',
    change: { unavailableWithinMs: 4_000 },
    why: /503 in time/,
  },
  {
    title: 'a lease that one renewal which times out lets end',
    change: { databaseStallMs: 0, leaseMs: 6_250, returnPauseMs: 5_000 },
    why: /one renewal may time out/,
  },
  {
    title: 'jobs that are returned before a renewal is repeated',
    change: { returnPauseMs: 4_250 },
    why: /renewed its leases before/,
  },
  {
    title: 'a heartbeat that times out and pauses the attempts',
    change: { shardTrustMs: 5_000 },
    why: /one heartbeat/,
  },
  {
    title: 'a row that counts as late while a frozen process may still write it',
    change: { lateCommitMs: 8_500 },
    why: /loses its transaction/,
  },
  {
    title: 'an idempotency key that ends before its third renewal',
    change: { keyLeaseMs: 26_500 },
    why: /idempotency key/,
  },
  {
    title: 'roles that are killed before their work is handed back',
    change: { workStopMs: 8_500 },
    why: /handed back/,
  },
  { title: 'a claim that is valid as long as a statement runs', change: { claimValidMs: 3_500 }, why: /run.? late/ },
  {
    title: 'a lease as long as a stall of the database',
    change: { leaseMs: 10_000 },
    why: /while the database stalls/,
  },
  {
    title: 'an end that is written later than half of what a stream looks back',
    change: { endWithinMs: 5_001 },
    why: /a stream reads/,
  },
  {
    title: 'a stream that goes on without a transaction that may still commit',
    change: { streamLookBackMs: 20_000 },
    why: /a stream waits/,
  },
  { title: 'attempts that start after the lease', change: { shardTrustMs: 10_000 }, why: /take the shard/ },
  { title: 'a stop of the roles that leaves the database no time', change: { rolesStopMs: 9_000 }, why: /SIGTERM/ },
  {
    title: 'a poll that comes later than the last one read ahead',
    change: { deliveryPollMs: 1_500 },
    why: /before it is due/,
  },
  {
    title: 'a poll that looks back less than the time of one that fails',
    change: { usualCommitMs: 5_000 },
    why: /a poll that times out/,
  },
  { title: 'a refill that reads less far ahead than a poll', change: { refillAheadMs: 1_000 }, why: /a refill brings/ },
  { title: 'a delivery found late that a poll brings', change: { foundLateMs: 1_000 }, why: /found late/ },
  { title: 'a search for what polls find', change: { deliverySearchMs: 10_000 }, why: /no poll can find/ },
  { title: 'settings too old for a withdrawal', change: { settingsMaxAgeMs: 800 }, why: /sent in time/ },
  { title: 'settings too old for a refill', change: { settingsRefillMs: 751 }, why: /fresh until/ },
  { title: 'a transcriber that is believed too shortly', change: { planTrustMs: 14_000 }, why: /plans wait/ },
  { title: 'a node that counts as dead too early', change: { nodeAliveMs: 24_000 }, why: /counts as alive/ },
  { title: 'a caller that is remembered too long', change: { callerMaxAgeMs: 1_000 }, why: /revoked key/ },
  { title: 'a stream that outlives its key', change: { streamEndMs: 1_500 }, why: /the keys of streams/ },
  { title: 'requests that outlast the roles', change: { requestsStopMs: 8_500 }, why: /cut off/ },
]) {
  test(`${title}: refused, with the reason`, () => {
    const broken = brokenBounds({ ...BOUNDS, ...change });

    assert.equal(broken.length, 1);
    assert.match(broken[0]!, why);
  });
}
