import assert from 'node:assert/strict';
import test from 'node:test';
import { systemClock } from '../platform/clock.ts';
import { parseWebhookUrl } from '../rules/network/url-guard.ts';
import { Resolver } from './dns/resolve.ts';
import { permittedTarget, resolveUrl } from './url-check.ts';

// An operator who opened one exception has not opened the names that lie beside it.
const allowedTargets = [{ address: '127.0.0.1', prefixBits: 32, port: 8443 }];

const accept = async (check: () => Promise<string>) => await check();

const CASES: [string, string[], 'accepted' | 'refused'][] = [
  ['https://printer/', [], 'refused'],
  ['https://hooks.internal/', [], 'refused'],
  ['https://metadata.google.internal/', [], 'refused'],
  ['https://localhost/', ['127.0.0.1'], 'refused'],
  ['https://localhost:8443/', ['127.0.0.1'], 'accepted'],
  ['https://localhost:8443/', ['127.0.0.1', '10.0.0.1'], 'refused'],
  ['https://hooks.example.com/', [], 'accepted'],
  ['https://hooks.example.com:8443/', ['93.184.216.34'], 'refused'],
];
for (const [url, addresses, outcome] of CASES) {
  test(`with an exception for 127.0.0.1:8443, ${url} at ${addresses.join(' and ') || 'no address'} is ${outcome}`, async () => {
    const resolver = new Resolver(async () => addresses);
    const options = { param: 'url', accountId: 'acct_x', allowedTargets, resolver, clock: systemClock };

    const came = await accept(() =>
      resolveUrl(permittedTarget(parseWebhookUrl(url, allowedTargets), 'url'), options),
    ).then(
      () => 'accepted',
      () => 'refused',
    );

    assert.equal(came, outcome);
  });
}
