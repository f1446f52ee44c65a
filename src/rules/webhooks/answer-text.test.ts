import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerText } from './answer-text.ts';

const ROWS: [what: string, bytes: Buffer, type: string | null, text: string][] = [
  ['UTF-8 without a charset', Buffer.from('Grüße'), 'text/plain', 'Grüße'],
  ['Latin-1 that is named', Buffer.from('Grüße', 'latin1'), 'text/html; charset=ISO-8859-1', 'Grüße'],
  ['a charset in quotes', Buffer.from('Grüße', 'latin1'), 'text/html; charset="iso-8859-1"', 'Grüße'],
  ['Latin-1 without a charset', Buffer.from('Grüße', 'latin1'), null, 'Grüße'],
  ['Shift_JIS', Buffer.from([0x83, 0x47, 0x83, 0x89, 0x81, 0x5b]), 'text/plain; charset=Shift_JIS', 'エラー'],
  ['UTF-8 that is cut in a character', Buffer.from('Grü').subarray(0, 3), null, 'Gr\ufffd'],
  ['an unknown charset', Buffer.from('Grüße'), 'text/plain; charset=x-none', 'Grüße'],
  ['nothing', Buffer.alloc(0), null, ''],
];
for (const [what, bytes, type, text] of ROWS) {
  test(`${what} is read as text`, () => {
    const headers = JSON.stringify(type === null ? {} : { server: 'x', 'content-type': type });

    assert.equal(answerText(bytes, headers), text);
  });
}
