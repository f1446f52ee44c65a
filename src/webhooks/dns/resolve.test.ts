import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openResolver } from './resolve.ts';

const WAIT_MS = 20_000;

/** A look-up in which names of hang.example never come back; it lists what it was asked for. */
function openNames() {
  const asked: string[] = [];
  const resolver = openResolver((hostname) => {
    asked.push(hostname);
    return hostname.endsWith('hang.example') ? new Promise(() => undefined) : Promise.resolve(['93.184.216.34']);
  });
  const hang = (accountId: string, count: number, maxWaitMs = WAIT_MS) =>
    Array.from({ length: count }, (_, index) =>
      resolver.enter(`${accountId}-${index}.hang.example`, { accountId, maxWaitMs }),
    );
  return { asked, resolver, hang, [Symbol.dispose]: () => resolver.close() };
}

test('an account has at most 8 look-ups under way; one more is sent away when its wait is over, and asks nobody', async () => {
  using names = openNames();
  const begun = await Promise.all(names.hang('acct_a', 8));

  const refused = await names.resolver.enter('late.hang.example', { accountId: 'acct_a', maxWaitMs: 1 });

  assert.ok(begun.every((lookup) => lookup !== null));
  assert.equal(refused, null);
  assert.equal(names.asked.length, 8);
});

test('beside an account whose names all hang, another one is looked up at once', async () => {
  using names = openNames();
  const waiting = names.hang('acct_a', 1_000);

  const lookup = await names.resolver.enter('good.example', { accountId: 'acct_b', maxWaitMs: 1 });

  assert.deepEqual(await lookup?.addresses, ['93.184.216.34']);
  names.resolver.close();
  assert.equal((await Promise.all(waiting)).filter((begun) => begun === null).length, 992);
});

test('beside a hundred accounts whose names all hang, another one is looked up within two seconds', async () => {
  using names = openNames();
  for (let account = 0; account < 100; account++) names.hang(`acct_${account}`, 20);

  const lookup = await names.resolver.enter('good.example', { accountId: 'acct_b', maxWaitMs: 2_000 });

  assert.deepEqual(await lookup?.addresses, ['93.184.216.34']);
});

test('who asks for a name that is being looked up shares the answer, also where its own account has no turn left', async () => {
  using names = openNames();
  await Promise.all(names.hang('acct_a', 8));
  const [, shared] = await Promise.all([
    names.resolver.enter('shared.hang.example', { accountId: 'acct_b', maxWaitMs: 1 }),
    names.resolver.enter('shared.hang.example', { accountId: 'acct_a', maxWaitMs: 1 }),
  ]);

  assert.notEqual(shared, null);
  assert.equal(names.asked.filter((name) => name === 'shared.hang.example').length, 1);
});

test('a look-up that failed is made again by the next who asks', async () => {
  let asked = 0;
  const resolver = openResolver(async () => {
    asked += 1;
    throw new Error('no such name');
  });

  for (let round = 0; round < 2; round++) {
    const lookup = await resolver.enter('gone.example', { accountId: 'acct_a', maxWaitMs: WAIT_MS });
    await assert.rejects(lookup!.addresses, /no such name/);
  }

  assert.equal(asked, 2);
});

test('a close ends the look-ups under way and tells them so', async () => {
  const signals: AbortSignal[] = [];
  const resolver = openResolver((_hostname, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const lookup = await resolver.enter('slow.example', { accountId: 'acct_a', maxWaitMs: WAIT_MS });

  resolver.close();

  await assert.rejects(lookup!.addresses, { code: 'ETIMEOUT' });
  assert.ok(signals[0]!.aborted);
});
