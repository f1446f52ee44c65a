import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../api-error.ts';
import { Type } from '../schema.ts';
import { checkQueryEncoding, readBodyOrNothing, readQuery, strictSchema } from './request-values.ts';

const SCHEMA = strictSchema(Type.Object({ whole: Type.Integer(), number: Type.Number(), text: Type.String() }));

const READ: [name: string, given: string, value: unknown][] = [
  ['whole', '7', 7],
  ['whole', '-7', -7],
  ['whole', '7.5', '7.5'],
  ['whole', '0x7', '0x7'],
  ['number', '7', 7],
  ['number', '0.083', 0.083],
  ['number', '-1.5', -1.5],
  ['number', '.5', '.5'],
  ['number', '1e3', 1000],
  ['number', '5e-324', 5e-324],
  ['number', '0.30000000000000004', 0.30000000000000004],
  ['number', '1e999', '1e999'],
  ['number', '', ''],
  ['text', '7', '7'],
];
for (const [name, given, value] of READ) {
  test(`${name}=${given} is read as ${JSON.stringify(value)}`, () => {
    assert.deepEqual(readQuery({ [name]: given }, SCHEMA), { [name]: value });
  });
}

for (const [body, param] of [
  [{ reason: 'x' }, 'reason'],
  [{ '': 1 }, ''],
  [[], undefined],
  [null, undefined],
] as const) {
  test(`a route without a body refuses ${JSON.stringify(body)}`, () => {
    const { status, param: named } = refusalOf(() => readBodyOrNothing(body, false));

    assert.deepEqual([status, named], [400, param]);
  });
}

test('a route without a body accepts none, and an empty object', () => {
  assert.equal(readBodyOrNothing(undefined, false), undefined);
  assert.equal(readBodyOrNothing({}, false), undefined);
});

for (const query of ['%zz', '%', 'q=%ff', 'q=a&%c3%28=1']) {
  test(`the query ${query} is refused`, () => {
    assert.equal(refusalOf(() => checkQueryEncoding(`/v1/jobs?${query}`)).status, 400);
  });
}

for (const url of ['/v1/jobs', '/v1/jobs?', '/v1/jobs?q=%C3%A9+%25&metadata[a]=b', '/v1/jobs/%zz']) {
  test(`the query of ${url} is accepted`, () => {
    assert.doesNotThrow(() => checkQueryEncoding(url));
  });
}

function refusalOf(call: () => unknown): ApiError {
  try {
    call();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
