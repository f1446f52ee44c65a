import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Resolver } from './resolve.ts';

const WAIT_MS = 20_000;

/** A resolver for which names under hang.example never resolve. `queried` lists all lookups. */
function openEnvironment() {
  const queried: string[] = [];
  const resolver = new Resolver((hostname) => {
    queried.push(hostname);
    return hostname.endsWith('hang.example') ? new Promise(() => undefined) : Promise.resolve(['93.184.216.34']);
  });
  const hang = (accountId: string, count: number, maxWaitMs = WAIT_MS) =>
    Array.from({ length: count }, (_, index) =>
      resolver.startLookup(`${accountId}-${index}.hang.example`, { accountId, maxWaitMs }),
    );
  return { queried, resolver, hang, [Symbol.dispose]: () => resolver.close() };
}

test('an account has at most 8 lookups in progress; one more is not started, and ends when its wait is over', async () => {
  using environment = openEnvironment();
  const started = await Promise.all(environment.hang('acct_a', 8));

  const refused = await environment.resolver.startLookup('late.hang.example', { accountId: 'acct_a', maxWaitMs: 1 });

  assert.ok(started.every((lookup) => lookup !== null));
  assert.equal(refused, null);
  assert.equal(environment.queried.length, 8);
});

test('an account whose names all hang does not delay the lookup of another account', async () => {
  using environment = openEnvironment();
  const waiting = environment.hang('acct_a', 1_000);

  const lookup = await environment.resolver.startLookup('good.example', { accountId: 'acct_b', maxWaitMs: 1 });

  assert.deepEqual(await lookup?.addresses, ['93.184.216.34']);
  environment.resolver.close();
  assert.equal((await Promise.all(waiting)).filter((started) => started === null).length, 992);
});

test('a hundred accounts whose names all hang delay the lookup of another account by less than two seconds', async () => {
  using environment = openEnvironment();
  for (let account = 0; account < 100; account++) environment.hang(`acct_${account}`, 20);

  const lookup = await environment.resolver.startLookup('good.example', { accountId: 'acct_b', maxWaitMs: 2_000 });

  assert.deepEqual(await lookup?.addresses, ['93.184.216.34']);
});

test('concurrent lookups of one name share the answer, even for an account that is at its limit', async () => {
  using environment = openEnvironment();
  await Promise.all(environment.hang('acct_a', 8));
  const [, shared] = await Promise.all([
    environment.resolver.startLookup('shared.hang.example', { accountId: 'acct_b', maxWaitMs: 1 }),
    environment.resolver.startLookup('shared.hang.example', { accountId: 'acct_a', maxWaitMs: 1 }),
  ]);

  assert.notEqual(shared, null);
  assert.equal(environment.queried.filter((name) => name === 'shared.hang.example').length, 1);
});

test('a failed lookup is not cached', async () => {
  let lookups = 0;
  const resolver = new Resolver(async () => {
    lookups += 1;
    throw new Error('no such name');
  });

  for (let round = 0; round < 2; round++) {
    const lookup = await resolver.startLookup('gone.example', { accountId: 'acct_a', maxWaitMs: WAIT_MS });
    await assert.rejects(lookup!.addresses, /no such name/);
  }

  assert.equal(lookups, 2);
});

test('close ends the lookups in progress and aborts their signals', async () => {
  const signals: AbortSignal[] = [];
  const resolver = new Resolver((_hostname, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const lookup = await resolver.startLookup('slow.example', { accountId: 'acct_a', maxWaitMs: WAIT_MS });

  resolver.close();

  await assert.rejects(lookup!.addresses, { code: 'ETIMEOUT' });
  assert.ok(signals[0]!.aborted);
});
