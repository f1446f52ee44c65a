import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { RawJson } from '../platform/json.ts';
import { jsonOrCsvAnswer } from './csv.ts';
import { nullable, type TSchema, Type } from './schema.ts';

const ROW = Type.Object({
  id: Type.String(),
  amount: Type.Number(),
  balance: nullable(Type.Object({ held: Type.Number() })),
  list: Type.Array(Type.String()),
  metadata: Type.Unknown(),
});
const csvOf = (row: TSchema, data: object[]) =>
  jsonOrCsvAnswer({ format: 'csv', accept: null }, { name: 'rows', row, body: { data } }).body as string;
const linesOf = (row: object) => csvOf(ROW, [row]);
const HEAD = 'id,amount,balance.held,list,metadata\r\n';

const CELLS: [what: string, value: unknown, cell: string][] = [
  ['a plain text', 'a b', 'a b'],
  ['null', null, ''],
  ['an absent field', undefined, ''],
  ['an empty text', '', '""'],
  ['a comma', 'a,b', '"a,b"'],
  ['a quotation mark', 'a"b', '"a""b"'],
  ['a line end', 'a\r\nb', '"a\r\nb"'],
  ['space at an end', ' a', '" a"'],
  ['a formula', '=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ...['=', '+', '-', '@', '\uff1d'].map((sign): [string, string, string] => [sign, `${sign}1`, `'${sign}1`]),
  ['a tab and a formula', '\t=1', `'\t=1`],
  ['a line end and a formula', '\r=1', `"'\r=1"`],
];
for (const [what, value, cell] of CELLS) {
  test(`the cell of ${what}`, () => {
    assert.equal(linesOf({ id: value }), `${HEAD}${cell},,,,\r\n`);
  });
}

test('fields of objects have columns; numbers stay numbers; lists and metadata are JSON as it was written', () => {
  const row = {
    id: 'x',
    amount: -2.5,
    balance: { held: 0 },
    list: ['=a', 'b'],
    metadata: new RawJson(' {"n":1.10} '),
  };

  assert.equal(linesOf(row), `${HEAD}x,-2.5,0,"[""=a"",""b""]","{""n"":1.10}"\r\n`);
  assert.equal(linesOf({ ...row, balance: null, list: [], metadata: null }), `${HEAD}x,-2.5,,[],\r\n`);
});

test('whatever the texts are, a reader of CSV finds them again', () => {
  const random = randomFrom(20261124);
  const text = () => Array.from({ length: random.integer(6) }, () => random.pick([...'",\r\n =+;é', 'ab'])).join('');
  const schema = Type.Object({ a: Type.String(), b: Type.String() });
  for (let round = 0; round < 1_000; round++) {
    const rows = Array.from({ length: random.integer(4) }, () => ({ a: text(), b: text() }));

    const read = readCsv(csvOf(schema, rows)).slice(1);

    assert.deepEqual(
      read.map(([a, b]) => ({ a: a!.replace(/^'/, ''), b: b!.replace(/^'/, '') })),
      rows,
    );
  }
});

/** The cells of RFC 4180. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, inQuotes, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(inQuotes?.replaceAll('""', '"') ?? plain!);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const ASKED: [format: 'json' | 'csv' | undefined, accept: string | null, isCsv: boolean][] = [
  [undefined, null, false],
  [undefined, '*/*', false],
  [undefined, 'text/html,application/xhtml+xml,*/*;q=0.8', false],
  [undefined, 'text/csv', true],
  [undefined, 'Text/CSV; header=present, */*;q=0.1', true],
  [undefined, 'application/json, text/csv;q=0.5', false],
  [undefined, 'application/json;q=0.4, text/csv;q=0.5', true],
  [undefined, 'text/csv;q=0', false],
  ['csv', 'application/json', true],
  ['json', 'text/csv', false],
];
for (const [format, accept, isCsv] of ASKED) {
  test(`format=${format} and Accept: ${accept} is answered as ${isCsv ? 'CSV' : 'JSON'}`, () => {
    const body = { data: [{ id: 'x' }], next_cursor: 'c' };

    const answer = jsonOrCsvAnswer({ format, accept }, { name: 'rows', row: ROW, body });

    assert.equal(answer.contentType, isCsv ? 'text/csv; charset=utf-8' : undefined);
    assert.equal(answer.headers?.['x-next-cursor'], isCsv ? 'c' : undefined);
    if (!isCsv) assert.equal(answer.body, body);
  });
}
