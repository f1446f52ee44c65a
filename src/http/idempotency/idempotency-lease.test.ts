import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { openSecretBox } from '../../webhooks/secrets/secrets.ts';
import { IdempotencyLease } from './idempotency-lease.ts';
import { insertKey, lockKey } from './idempotency-store.ts';

const ACCEPTED = { status: 202, body: { id: 'job_a' } };

for (const isConnected of [true, false]) {
  const caller = isConnected ? 'is there' : 'hung up';
  test(`the answer to a request that made a job is ${isConnected ? '' : 'not '}kept where its caller ${caller}`, async () => {
    await using db = await openTestDatabase();
    const name = { shard: 1, accountId: 'acct_a', key: 'k' };
    await insertKey(db, name, { route: 'r', leaseMs: 60_000, keepMs: 60_000 });
    const runtime = runtimeOn(db, { secretBox: openSecretBox(Buffer.alloc(32, 7)) });
    const leased = { ...name, lease: 1 };
    const leases = new Set([leased]);
    const lease = new IdempotencyLease(runtime, { name, route: 'r', leased, stored: null }, leases);
    lease.identify('f');
    await lease.bindJob(db, 'job_a');

    await lease.end(ACCEPTED, isConnected);

    const { isAnswered, jobId, isLeaseOver } = (await lockKey(db, name))!;
    assert.deepEqual({ isAnswered, jobId }, { isAnswered: isConnected, jobId: 'job_a' });
    assert.deepEqual([isAnswered || isLeaseOver, leases.size], [true, 0]);
  });
}
