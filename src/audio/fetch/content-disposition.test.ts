import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispositionFilename } from './content-disposition.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

const NAMES: [string | undefined, string | null][] = [
  [undefined, null],
  ['inline', null],
  ['attachment; filename=a.mp3', 'a.mp3'],
  ['attachment; filename="a b; c.mp3"; size=3', 'a b; c.mp3'],
  ['inline;FileName = "a.mp3"', 'a.mp3'],
  ['attachment; filename="the \\"call\\".mp3"', 'the "call".mp3'],
  ['attachment; filename=my call.mp3', 'my call.mp3'],
  [`attachment; filename="caf\u00e9.mp3"`, 'café.mp3'],
  [latin1('attachment; filename="日本.mp3"'), '日本.mp3'],
  [`attachment; filename="EURO.mp3"; filename*=UTF-8''%e2%82%ac.mp3`, '€.mp3'],
  [`attachment; filename*=utf-8'en'%e2%82%ac%20a.mp3; filename="EURO.mp3"`, '€ a.mp3'],
  [`attachment; filename*=iso-8859-1''caf%E9.mp3`, 'café.mp3'],
  [`attachment; filename*=UTF-8''%e2%82.mp3; filename=a.mp3`, 'a.mp3'],
  [`attachment; filename*=KOI8-R''%c1.mp3; filename=a.mp3`, 'a.mp3'],
  ['attachment; filename=""', null],
  ['attachment; filename="../../etc/passwd"', 'passwd'],
  ['attachment; filename="C:\\calls\\a.mp3"', 'a.mp3'],
  [`attachment; filename*=UTF-8''..%2F..%5Ca.mp3`, 'a.mp3'],
  [`attachment; filename*=UTF-8''a%0d%0a%e2%80%aeb.mp3`, 'ab.mp3'],
  [`attachment; filename="${'n'.repeat(400)}"`, 'n'.repeat(255)],
];

test('the name of a file is read from Content-Disposition as browsers read it, without its folders', () => {
  const read = NAMES.map(([header]) => [header, dispositionFilename(header)]);
  assert.deepEqual(read, NAMES);
});
