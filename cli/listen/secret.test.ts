import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { UsageError } from '../exit.ts';
import { makeSecret } from './delivery/local-delivery.ts';
import { chooseSecret } from './secret.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'secret-'));
after(() => fs.rmSync(folder, { recursive: true }));
const [KEPT, GIVEN, OTHER] = [makeSecret(), makeSecret(), makeSecret()];
const none = { from: undefined, renew: false };
const kept = { secret: KEPT, position: null };

function fileWith(text: string): string {
  const file = path.join(folder, `${Math.random()}.env`);
  fs.writeFileSync(file, text);
  return file;
}

test('the secret of a profile is made once and kept, until a new one is asked for', () => {
  const made = chooseSecret(none, {}, { secret: null, position: null });

  assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual([made.isNew, chooseSecret(none, {}, kept).secret], [true, KEPT]);
  assert.equal(chooseSecret(none, {}, kept).isNew, false);
  const renewed = chooseSecret({ ...none, renew: true }, {}, kept);
  assert.ok(renewed.isNew && renewed.secret !== KEPT);
});

test('a secret comes from a file, from a variable of a .env file, or from the environment', () => {
  const env = { VERBATIM_WEBHOOK_SECRET: OTHER };
  const two = fileWith(`A=1\nVERBATIM_SECRET="${GIVEN}"\nexport OLD='${OTHER}'\n`);

  for (const from of [fileWith(`${GIVEN}\n`), fileWith(`PORT=1\nSECRET=${GIVEN}\n`), `${two}:VERBATIM_SECRET`]) {
    assert.deepEqual(chooseSecret({ from, renew: false }, env, kept), {
      secret: GIVEN,
      source: `from ${from}`,
      isNew: false,
    });
  }
  assert.equal(chooseSecret({ from: `${two}:OLD`, renew: false }, {}, kept).secret, OTHER);
  assert.equal(chooseSecret(none, env, kept).secret, OTHER);
});

test('a secret among the arguments is refused, and so is a file without one secret', () => {
  const refused: [string, RegExp][] = [
    [GIVEN, /Other users can see/],
    [fileWith('A=1'), /has no secret/],
    [fileWith(`A=${GIVEN}\nB=${OTHER}`), /several secrets/],
    [`${fileWith(`A=${GIVEN}`)}:B`, /has no secret/],
    [fileWith('whsec_short'), /must be "whsec_"/],
  ];
  for (const [from, message] of refused) {
    assert.throws(
      () => chooseSecret({ from, renew: false }, {}, kept),
      (error) => error instanceof UsageError && message.test(error.message) && !error.message.includes(GIVEN),
    );
  }
  assert.throws(() => chooseSecret(none, { VERBATIM_WEBHOOK_SECRET: 'abc' }, kept), UsageError);
});
