import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonOfDisk, reasonOfFailure, reasonOfSchema } from './readiness-reasons.ts';
import type { SchemaState } from './schema-state.ts';

const newest = { version: 30, name: '0030_next.sql', sha256: 'aa', release: '0.4.0' };

const SCHEMAS: [string, SchemaState, RegExp | null][] = [
  ['of this release', { kind: 'same' }, null],
  [
    'of an older release',
    { kind: 'older', missing: ['0020_a.sql'] },
    /lacks migrations of this release \(0020_a\.sql\)/,
  ],
  ['of the next release', { kind: 'newer', newest, isNextRelease: true }, null],
  [
    'of a later release',
    { kind: 'newer', newest, isNextRelease: false },
    /schema 30 of release 0\.4\.0, which is too new/,
  ],
  ['with another migration', { kind: 'changed', names: ['0020_a.sql'] }, /with another 0020_a\.sql/],
];

for (const [title, state, expected] of SCHEMAS) {
  test(`a node with a schema ${title} is ${expected ? 'not ready' : 'ready'}`, () => {
    const reason = reasonOfSchema(state, '0.2.0');

    if (expected === null) assert.equal(reason, null);
    else assert.match(reason!, expected);
  });
}

const FAILURES: [string | null, RegExp][] = [
  ['25006', /standby, or was demoted/],
  ['53100', /disk of the database is full/],
  ['53300', /no connection left/],
  ['58030', /error of its disk/],
  ['42P01', /lacks tables/],
  ['EMFILE', /no file descriptor left/],
  ['ECONNREFUSED', /cannot be reached/],
  [null, /cannot be reached/],
];

for (const [code, expected] of FAILURES) {
  test(`a failed write with the code ${code} has a reason`, () => {
    assert.match(reasonOfFailure(code), expected);
  });
}

test('a disk is full below its reserve of bytes, or when its inodes are used up', () => {
  const disk = { freeBytes: 2 ** 31, freeInodes: 50_000, inodes: 100_000 };
  const reason = (more: Partial<typeof disk>) => reasonOfDisk('/data', { ...disk, ...more }, 2 ** 30);

  assert.equal(reason({}), null);
  assert.match(reason({ freeBytes: 2 ** 29 })!, /disk of \/data has 512 MiB left, less than the reserve of 1024 MiB/);
  assert.match(reason({ freeInodes: 3 })!, /3 inodes left/);
  assert.equal(reason({ freeInodes: 0, inodes: 0 }), null);
  assert.equal(reason({ freeInodes: 900, inodes: 2_000 }), null);
});
