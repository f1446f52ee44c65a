import assert from 'node:assert/strict';
import test from 'node:test';
import { isFromOwnPage } from './own-page.ts';

const CASES: [method: string, site: string | undefined, origin: string | undefined, isOwn: boolean][] = [
  ['GET', undefined, undefined, true],
  ['GET', 'same-origin', undefined, true],
  ['GET', 'none', undefined, true],
  ['GET', 'same-site', undefined, false],
  ['GET', 'cross-site', undefined, false],
  ['HEAD', 'same-site', undefined, false],
  ['POST', 'same-origin', 'https://elsewhere.example', true],
  ['POST', 'same-site', 'http://127.0.0.1:8080', false],
  ['POST', 'cross-site', 'https://evil.example', false],
  ['POST', 'none', undefined, false],
  ['DELETE', undefined, undefined, false],
  ['DELETE', undefined, 'http://127.0.0.1:8080', true],
  ['PATCH', undefined, 'HTTP://127.0.0.1:8080', true],
  ['DELETE', undefined, 'http://127.0.0.1:8081', false],
  ['DELETE', undefined, 'null', false],
  ['DELETE', undefined, 'http://evil.example/127.0.0.1:8080', false],
];

for (const [method, site, origin, isOwn] of CASES) {
  test(`${method} with Sec-Fetch-Site ${site} and Origin ${origin}: ${isOwn}`, () => {
    assert.equal(isFromOwnPage(method, { site, origin, host: '127.0.0.1:8080' }), isOwn);
  });
}

test('without a Host no origin is that of the service', () => {
  assert.equal(isFromOwnPage('POST', { site: undefined, origin: 'http://a', host: undefined }), false);
});
