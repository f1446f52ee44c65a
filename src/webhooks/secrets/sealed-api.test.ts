import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../test/fixtures/account.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { openHeaderReader, sealHeaders } from './own-headers.ts';
import { sealedRoutes } from './sealed-api.ts';
import { listNotSealedBy, replaceSealed, type SealedRow } from './sealed-store.ts';
import { openSecretBox } from './secrets.ts';
import { UnreadableSecret } from './signers.ts';

const [OLD, NEW, FOREIGN] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
const BEFORE = openSecretBox(OLD);
const BOTH = openSecretBox(NEW, OLD);
const AFTER = openSecretBox(NEW);

const openEnvironment = () =>
  openAccountFixture({ more: (db: Database) => sealedRoutes(runtimeOn(db, { secretBox: BOTH, batch: 4 })) });
type Fixture = Awaited<ReturnType<typeof openEnvironment>>;

/** Webhooks spread over shards, each with its id for a secret, and every other with a previous one. */
async function insertWebhooks(fixture: Fixture, count: number, box = BEFORE): Promise<string[]> {
  const { id: accountId } = await fixture.account();
  const ids = Array.from({ length: count }, () => makeId('wh'));
  for (const [i, id] of ids.entries()) {
    await fixture.db.run({
      text: `
        insert into webhooks (shard, id, account_id, url, events, secret, previous_secret, headers, created_at, updated_at)
        values ($1, $2, $3, 'https://a.example', '{}', $4, $5, $6, now(), now())`,
      values: [
        ...[i % 3, id, accountId, box.seal(id, id), i % 2 ? box.seal(id, `previous ${id}`) : null],
        i % 3 ? null : sealHeaders(box, id, { 'X-Of': id }),
      ],
    });
  }
  return ids;
}

const rotate = (fixture: Fixture, cursor?: string) =>
  fixture.ask('POST', '/admin/v1/secrets/rotate', cursor === undefined ? {} : { cursor });
const rowsOf = (fixture: Fixture) =>
  fixture.db.rows<SealedRow>({
    text: 'select shard, id, secret, previous_secret as "previousSecret", headers from webhooks',
  });

test('batch by batch all secrets are sealed by the first key, and the others are needed no more', async () => {
  await using fixture = await openEnvironment();
  await insertWebhooks(fixture, 10);

  const first = (await rotate(fixture)).body;
  const second = (await rotate(fixture, first.next_cursor)).body;
  const third = (await rotate(fixture, second.next_cursor)).body;

  assert.deepEqual(
    [first, second, third].map(({ rotated, unreadable, remaining }) => [rotated, unreadable, remaining]),
    [
      [4, 0, null],
      [4, 0, null],
      [2, 0, 0],
    ],
  );
  assert.equal(third.next_cursor, null);
  const reader = openHeaderReader(AFTER);
  for (const { id, secret, previousSecret, headers } of await rowsOf(fixture)) {
    assert.equal(AFTER.open(id, secret), id);
    if (previousSecret) assert.equal(AFTER.open(id, previousSecret), `previous ${id}`);
    if (headers) assert.deepEqual(reader.headersOf(id, headers), { 'X-Of': id });
  }
});

test('headers that were sealed by another key are found and sealed anew, also where the secrets are not', async () => {
  await using fixture = await openEnvironment();
  const [id] = (await insertWebhooks(fixture, 1, BOTH)) as [string];
  await fixture.db.run({ text: 'update webhooks set headers = $1', values: [sealHeaders(BEFORE, id, { 'X-A': 'b' })] });

  const { rotated, remaining } = (await rotate(fixture)).body;

  assert.deepEqual([rotated, remaining], [1, 0]);
  assert.deepEqual(openHeaderReader(AFTER).headersOf(id, (await rowsOf(fixture))[0]!.headers), { 'X-A': 'b' });
});

test('headers do not open as those of another webhook, nor as a secret', () => {
  const sealed = sealHeaders(AFTER, 'wh_1', { 'X-A': 'b' });

  assert.throws(() => openHeaderReader(AFTER).headersOf('wh_2', sealed), UnreadableSecret);
  assert.throws(() => AFTER.open('wh_1', sealed));
  assert.throws(() => openHeaderReader(AFTER).headersOf('wh_1', AFTER.seal('wh_1', '{}')), UnreadableSecret);
});

test('a pass that was broken off is done again from its beginning, and does only what is left', async () => {
  await using fixture = await openEnvironment();
  await insertWebhooks(fixture, 7);
  const first = (await rotate(fixture)).body;
  const rows = await rowsOf(fixture);

  const again = (await rotate(fixture)).body;
  const kept = (await rowsOf(fixture)).filter(({ secret }) => rows.some((row) => row.secret.equals(secret)));

  assert.deepEqual([first.rotated, again.rotated, again.remaining], [4, 3, 0]);
  assert.equal(kept.length, 4);
});

test('secrets that no listed key opens are counted, left as they are, and do not stop the others', async () => {
  await using fixture = await openEnvironment();
  await insertWebhooks(fixture, 5, openSecretBox(FOREIGN));
  const ids = await insertWebhooks(fixture, 3);

  const first = (await rotate(fixture)).body;
  const second = (await rotate(fixture, first.next_cursor)).body;

  assert.deepEqual([first.rotated + second.rotated, first.unreadable + second.unreadable], [3, 5]);
  assert.equal((second.next_cursor ? (await rotate(fixture, second.next_cursor)).body : second).remaining, 5);
  const rows = await rowsOf(fixture);
  assert.deepEqual(
    ids.map((id) => AFTER.open(id, rows.find((row) => row.id === id)!.secret)),
    ids,
  );
});

test('a secret that its owner rotates meanwhile is not put back', async () => {
  await using fixture = await openEnvironment();
  const [id] = (await insertWebhooks(fixture, 1)) as [string];
  const [read] = await listNotSealedBy(fixture.db, BOTH.currentHeader, { after: null, limit: 1 });
  await fixture.db.run({ text: 'update webhooks set secret = $1', values: [BOTH.seal(id, 'its own')] });

  const isReplaced = await replaceSealed(fixture.db, read!, {
    secret: BOTH.reseal(id, read!.secret),
    previousSecret: null,
    headers: null,
  });

  assert.equal(isReplaced, false);
  assert.equal(AFTER.open(id, (await rowsOf(fixture))[0]!.secret), 'its own');
});

for (const cursor of ['x', Buffer.from('1 wh_x').toString('base64url'), '']) {
  test(`the cursor ${JSON.stringify(cursor)} is a 400, and a key is no operator`, async () => {
    await using fixture = await openEnvironment();
    const { key } = await fixture.account();

    const answer = await rotate(fixture, cursor);

    assert.deepEqual([answer.status, answer.body.error.param], [400, 'cursor']);
    assert.equal((await fixture.askAs(key, 'POST', '/admin/v1/secrets/rotate', {})).status, 401);
  });
}
