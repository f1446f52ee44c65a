import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { Provider } from './provider.ts';

/** Serves the discovery document of a provider below a path; it calls itself `ownPath`. */
async function openDiscovery(ownPath: string, status = 200) {
  const server = http.createServer((request, response) => {
    const isFound = request.url === '/realm/.well-known/openid-configuration';
    response.writeHead(isFound ? status : 404, { 'content-type': 'application/json' });
    const body = {
      issuer: `${origin}${ownPath}`,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/jwks`,
    };
    response.end(JSON.stringify(isFound ? body : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function check(issuer: string) {
  const provider = new Provider(issuer, { oidcIssuer: issuer, oidcClientId: 'verbatim', oidcClientSecret: null });
  const lines: string[] = [];
  await provider.check({ error: (_fields: unknown, line?: string) => void lines.push(line ?? '') });
  return { provider, lines };
}

for (const [own, given] of [
  ['/realm', '/realm/'],
  ['/realm/', '/realm'],
  ['/realm', '/realm'],
] as const) {
  test(`a provider that calls itself ${own} is used as OIDC_ISSUER ${given}`, async () => {
    await using place = await openDiscovery(own);
    const { provider, lines } = await check(place.origin + given);

    const begun = await provider.begin('https://speech.example.com/back', null);

    assert.deepEqual(lines, []);
    assert.ok(begun.url.startsWith(`${place.origin}/auth?`));
  });
}

test('the log of a start says why a provider cannot be used, and what to set', async () => {
  await using other = await openDiscovery('/other');
  await using broken = await openDiscovery('/realm', 500);
  const [named] = (await check(`${other.origin}/realm`)).lines;
  const [status] = (await check(`${broken.origin}/realm`)).lines;
  const [missing] = (await check(`${broken.origin}/nowhere`)).lines;
  const [away] = (await check('http://127.0.0.1:1')).lines;

  assert.ok(named?.endsWith(`set OIDC_ISSUER=${other.origin}/other`), named);
  assert.match(status!, /another status than 200/);
  assert.match(missing!, /another status than 200/);
  assert.match(away!, /nothing listens at its address/);
});
