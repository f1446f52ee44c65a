import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from '../schema.ts';
import { readQuery, strictSchema } from './request-values.ts';

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
  ['number', '1e3', '1e3'],
  ['number', '', ''],
  ['text', '7', '7'],
];
for (const [name, given, value] of READ) {
  test(`${name}=${given} is read as ${JSON.stringify(value)}`, () => {
    assert.deepEqual(readQuery({ [name]: given }, SCHEMA), { [name]: value });
  });
}
