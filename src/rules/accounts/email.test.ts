import assert from 'node:assert/strict';
import test from 'node:test';
import { emailFault, normalEmail, readEmail, storedEmails } from './email.ts';

const SAME: [string, string][] = [
  ['ANNA@Example.com', 'anna@example.com'],
  ['\uff41\uff4e\uff4e\uff41@example.com', 'anna@example.com'],
  ['zoe\u0308@example.com', 'zo\u00eb@example.com'],
  ['\u212aurt@example.com', 'kurt@example.com'],
  ['\u03bf\u03b4\u03bf\u03c2@example.com', '\u039f\u0394\u039f\u03a3@example.com'],
];

for (const [one, other] of SAME) {
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} are one email`, () => {
    assert.equal(normalEmail(one), normalEmail(other));
  });
}

test('an email that an earlier release stored in another form is still found', () => {
  assert.deepEqual(storedEmails('\uff21nna@example.com'), ['anna@example.com', '\uff41nna@example.com']);
  assert.deepEqual(storedEmails('Anna@example.com'), ['anna@example.com']);
});

const REFUSED: [what: string, email: string, fault: RegExp][] = [
  ['a zero width space', 'an\u200bna@example.com', /cannot be seen/],
  ['a zero width joiner', 'an\u200dna@example.com', /cannot be seen/],
  ['a soft hyphen', 'an\u00adna@example.com', /cannot be seen/],
  ['a control of direction', 'an\u202ena@example.com', /cannot be seen/],
  ['a Hangul filler', 'an\u3164na@example.com', /cannot be seen/],
  ['a Cyrillic letter in a Latin name', '\u0430nna@example.com', /several alphabets/],
  ['a Greek letter in a Latin host', 'anna@ex\u03b1mple.com', /several alphabets/],
  ['two addresses once it is normal', 'anna\uff20example@com', /no email/],
];

for (const [what, email, fault] of REFUSED) {
  test(`an email with ${what} is refused`, () => {
    assert.match(emailFault(email) ?? '', fault);
    assert.equal(readEmail(email), null);
  });
}

const ACCEPTED = [
  'anna.b+tag@example.com',
  'zo\u00eb@example.com',
  '\u0430\u043d\u043d\u0430@example.com',
  '\u0430\u043d\u043d\u0430@\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444',
  'taro\u592a\u90ce@example.jp',
  '\u0e2a\u0e21\u0e0a\u0e32\u0e22@example.th',
];

for (const email of ACCEPTED) {
  test(`${email} is an email`, () => assert.equal(emailFault(email), null));
}

test("a provider's email that is another one in its normal form is none", () => {
  assert.equal(readEmail('\uff41nna@example.com'), null);
  assert.equal(readEmail(' Anna@Example.com '), 'anna@example.com');
});
