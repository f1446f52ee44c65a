import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateRedirect, isRedirect, isSameOrigin } from './redirect.ts';
import { type AllowedTarget, parseAudioUrl, type UrlTarget } from './url-guard.ts';

const ALLOWED: AllowedTarget[] = [
  { address: '10.0.0.0', prefixBits: 8, port: 80 },
  { address: '127.0.0.1', prefixBits: 32, port: 8443 },
];

function targetOf(url: string): UrlTarget {
  const verdict = parseAudioUrl(url, ALLOWED);
  assert.equal(verdict.kind, 'ok');
  return verdict.target;
}

function outcomeOf(location: string | undefined, visited: string[]): string {
  const verdict = evaluateRedirect(location, { visited: visited.map(targetOf), allowed: ALLOWED });
  return verdict.kind === 'follow' ? verdict.target.href : verdict.reason;
}

const FROM = 'https://a.example.com/one?x=1';
const CASES: [what: string, location: string | undefined, outcome: string][] = [
  ['an absolute URL', 'https://b.example.com/two?y=2', 'https://b.example.com/two?y=2'],
  ['a path', '/two', 'https://a.example.com/two'],
  ['a relative path', 'two', 'https://a.example.com/two'],
  ['a query', '?x=2', 'https://a.example.com/one?x=2'],
  ['another host by the same scheme', '//b.example.com/two', 'https://b.example.com/two'],
  ['an allowed address', 'https://127.0.0.1:8443/two', 'https://127.0.0.1:8443/two'],
  ['no location', undefined, 'redirect'],
  ['text that is no URL', 'https://exa<mple.com/', 'redirect'],
  ['the same URL', FROM, 'redirect'],
  ['the same URL with a fragment', `${FROM}#there`, 'redirect'],
  ['http', 'http://a.example.com/one', 'redirect'],
  ['http at an address that the operator opened for it', 'http://10.0.0.1/one', 'redirect'],
  ['a private address', 'https://10.0.0.1/', 'forbidden_address'],
  ['the metadata address', 'https://169.254.169.254/latest/meta-data', 'forbidden_address'],
  ['the metadata address in hexadecimal', 'https://0xa9fea9fe/', 'forbidden_address'],
  ['loopback behind backslashes', '\\\\127.0.0.1\\x', 'forbidden_address'],
  ['another port', 'https://b.example.com:444/', 'forbidden_address'],
  ['credentials', 'https://u:p@b.example.com/', 'forbidden_address'],
  ['a file', 'file:///etc/passwd', 'forbidden_address'],
  ['data', 'data:audio/wav;base64,AAAA', 'forbidden_address'],
  ['ftp', 'ftp://b.example.com/', 'forbidden_address'],
];
for (const [what, location, outcome] of CASES) {
  test(`a redirect to ${what} gives ${outcome}`, () => {
    assert.equal(outcomeOf(location, [FROM]), outcome);
  });
}

test('five redirects are followed, a sixth is not', () => {
  const chain = Array.from({ length: 6 }, (_, index) => `https://a.example.com/${index}`);

  assert.equal(outcomeOf('/5', chain.slice(0, 5)), 'https://a.example.com/5');
  assert.equal(outcomeOf('/6', chain), 'redirect');
});

test('a redirect to any earlier URL is a circle', () => {
  assert.equal(outcomeOf('/one', ['https://a.example.com/one', 'https://a.example.com/two']), 'redirect');
});

test('a redirect from http, where the operator opened it, may lead to http and https', () => {
  assert.equal(outcomeOf('/two', ['http://10.0.0.1/']), 'http://10.0.0.1/two');
  assert.equal(outcomeOf('https://a.example.com/', ['http://10.0.0.1/']), 'https://a.example.com/');
  assert.equal(outcomeOf('http://11.0.0.1/', ['http://10.0.0.1/']), 'forbidden_address');
});

test('the origin is scheme, host and port', () => {
  const [first, path] = [targetOf('https://a.example.com/'), targetOf('https://A.example.com.:443/x')];
  const others = ['https://b.example.com/', 'https://a.example.com:8443/', 'http://a.example.com/'].map(targetOf);

  assert.equal(isSameOrigin(first, path), true);
  assert.deepEqual(
    others.map((other) => isSameOrigin(first, other)),
    [false, false, false],
  );
});

test('301, 302, 303, 307 and 308 name another URL, other statuses do not', () => {
  const redirects = Array.from({ length: 500 }, (_, index) => 100 + index).filter(isRedirect);

  assert.deepEqual(redirects, [301, 302, 303, 307, 308]);
});
