import assert from 'node:assert/strict';
import test from 'node:test';
import { clearSessionCookie, readSessionToken, writeSessionCookie } from './session-cookie.ts';

const TOKEN = 'a'.repeat(43);
const OTHER = 'b'.repeat(43);

test('the cookie is kept from scripts and from other sites, and over HTTPS from sibling hosts too', () => {
  const options = { maxAgeSeconds: 43_200 };

  assert.equal(
    writeSessionCookie(TOKEN, { ...options, isHttps: false }),
    `verbatim_session=${TOKEN}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`,
  );
  assert.equal(
    writeSessionCookie(TOKEN, { ...options, isHttps: true }),
    `__Host-verbatim_session=${TOKEN}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure`,
  );
  assert.match(clearSessionCookie(false), /^verbatim_session=; Path=\/; Max-Age=0;/);
});

test('the token is found among other cookies; that of this host goes first', () => {
  assert.equal(readSessionToken([`a=1; verbatim_session=${TOKEN}; b=2`]), TOKEN);
  assert.equal(readSessionToken([`verbatim_session=${OTHER}`, `__Host-verbatim_session=${TOKEN}`]), TOKEN);
});

for (const cookies of [
  [],
  [''],
  ['verbatim_session'],
  ['verbatim_session='],
  ['verbatim_session=abc'],
  [`x=${TOKEN}`],
]) {
  test(`there is no token in ${JSON.stringify(cookies)}`, () => {
    assert.equal(readSessionToken(cookies), null);
  });
}
