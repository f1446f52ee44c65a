import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppliedMigration, compareSchema, type SchemaState } from './schema-state.ts';

const KNOWN = [
  { version: 1, name: '0001_initial.sql', sha256: 'aa' },
  { version: 20, name: '0020_next.sql', sha256: 'bb' },
];
const FIRST = { ...KNOWN[0]!, release: '0.1.0' };
const SECOND = { ...KNOWN[1]!, release: '0.2.0' };
const newer = (release: string | null): AppliedMigration => ({ version: 30, name: 'n', sha256: 'cc', release });

const CASES: [string, AppliedMigration[], SchemaState][] = [
  ['all migrations of the release', [FIRST, SECOND], { kind: 'same' }],
  ['an empty database', [], { kind: 'older', missing: ['0001_initial.sql', '0020_next.sql'] }],
  ['a migration less', [FIRST], { kind: 'older', missing: ['0020_next.sql'] }],
  ['another text', [FIRST, { ...SECOND, sha256: 'xx' }], { kind: 'changed', names: ['0020_next.sql'] }],
  ['no hash', [{ ...FIRST, sha256: null }, SECOND], { kind: 'changed', names: ['0001_initial.sql'] }],
  ['a migration of this minor release', [FIRST, SECOND, newer('0.2.9')], newerState('0.2.9', true)],
  ['a migration of the next minor release', [FIRST, SECOND, newer('0.3.0')], newerState('0.3.0', true)],
  ['a migration of two minor releases later', [FIRST, SECOND, newer('0.4.0')], newerState('0.4.0', false)],
  ['a migration of the next major release', [FIRST, SECOND, newer('1.0.0')], newerState('1.0.0', false)],
  ['a migration of an unknown release', [FIRST, SECOND, newer(null)], newerState(null, false)],
];

function newerState(release: string | null, isNextRelease: boolean): SchemaState {
  return { kind: 'newer', newest: newer(release), isNextRelease };
}

for (const [title, applied, expected] of CASES) {
  test(`a database with ${title} is ${expected.kind}${expected.kind === 'newer' && expected.isNextRelease ? ' by one release' : ''}`, () => {
    assert.deepEqual(compareSchema(applied, KNOWN, '0.2.0'), expected);
  });
}
