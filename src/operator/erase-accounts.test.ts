import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../test/fixtures/audio/wav.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { type DeletedAccount, markDeleted } from '../accounts/erasure-store.ts';
import { PassCursor } from '../db/statements/row-pass.ts';
import { eraseAccounts } from './erase-accounts.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());

test('what an account has is erased, and its row is deleted when nothing was added for a day', async () => {
  const account = await fixture.account();
  const exists = async () =>
    (await fixture.db.rows({ text: 'select from accounts where id = $1', values: [account.id] })).length;

  await fixture.transcribe(account, wavFile(1), { async: 'true' });
  const stored = (await fixture.files()).length;
  await markDeleted(fixture.db, account.id);
  const erased = await eraseAccounts(fixture, { keepMs: 0 });
  const after = [(await fixture.files()).length, await exists()];
  const again = await eraseAccounts(fixture);
  const kept = await exists();
  await eraseAccounts(fixture, { keepMs: 0 });

  assert.deepEqual([stored, after], [1, [0, 1]]);
  assert.ok(erased >= 2);
  assert.deepEqual([again, kept, await exists()], [0, 1, 0]);
});

test('an account whose audio cannot be removed keeps no other one', async () => {
  const accounts = [await fixture.account(), await fixture.account()];
  for (const account of accounts) {
    await fixture.transcribe(account, wavFile(1), { async: 'true' });
    await markDeleted(fixture.db, account.id);
  }
  const { remove } = fixture.storage;
  let stuck: string | null = null;
  fixture.storage.remove = async (key) => {
    // The first of all.
    stuck ??= key;
    if (key === stuck) throw new Error('not permitted');
    await remove(key);
  };

  await assert.rejects(eraseAccounts(fixture, { keepMs: 0 }), /not permitted/);

  const left = await fixture.files();
  fixture.storage.remove = remove;
  await eraseAccounts(fixture, { keepMs: 0 });
  assert.deepEqual([left, await fixture.files()], [[stuck], []]);
});

test('a run that is stopped erases no more', async () => {
  const account = await fixture.account();
  await fixture.transcribe(account, wavFile(1), { async: 'true' });
  await markDeleted(fixture.db, account.id);

  assert.equal(await eraseAccounts(fixture, { signal: AbortSignal.abort() }), 0);
  assert.equal((await fixture.files()).length, 1);
});

test('a file that cannot be removed keeps its job only, and is reported', async () => {
  const [account, other] = [await fixture.account(), await fixture.account()];
  for (const owner of [account, account, other]) await fixture.transcribe(owner, wavFile(1), { async: 'true' });
  for (const { id } of [account, other]) await markDeleted(fixture.db, id);
  const keysOf = async (id: string) =>
    await fixture.db.rows<{ key: string }>({
      text: 'select audio_key as key from jobs where account_id = $1 order by id',
      values: [id],
    });
  const [stuck] = await keysOf(account.id);
  const remove = async (key: string) => {
    if (key === stuck!.key) throw new Error('cannot be removed');
    await fixture.storage.remove(key);
  };

  await assert.rejects(eraseAccounts({ ...fixture, storage: { ...fixture.storage, remove } }), /cannot be removed/);

  assert.deepEqual([await keysOf(account.id), await keysOf(other.id)], [[stuck], []]);
  const ledger = { text: 'select from ledger where account_id = any($1)', values: [[account.id, other.id]] };
  assert.deepEqual(await fixture.db.rows(ledger), []);
});

test('accounts whose rows stay for a day do not keep others from being erased', async () => {
  const cursor = new PassCursor<DeletedAccount>(1);
  const before = await fixture.files();
  const accounts = [await fixture.account(), await fixture.account(), await fixture.account()];
  for (const account of accounts) {
    await fixture.transcribe(account, wavFile(1), { async: 'true' });
    await markDeleted(fixture.db, account.id);
  }

  // Those of the tests before too, and one pass that finds the end.
  const deleted = await fixture.db.rows({ text: 'select from accounts where deleted_at is not null' });
  for (let pass = 0; pass <= deleted.length; pass += 1) await eraseAccounts(fixture, { cursor });

  assert.equal(before.length, 1);
  assert.deepEqual(await fixture.files(), []);
});
