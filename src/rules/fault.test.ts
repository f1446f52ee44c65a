import assert from 'node:assert/strict';
import test from 'node:test';
import { type EngineFailure, type Fault, faultOf } from './fault.ts';

const OF_ENGINES: [EngineFailure, 'audio' | 'engine'][] = [
  [{ kind: 'model' }, 'engine'],
  [{ kind: 'start' }, 'engine'],
  [{ kind: 'away' }, 'engine'],
  [{ kind: 'died' }, 'engine'],
  [{ kind: 'timeout' }, 'engine'],
  [{ kind: 'connection' }, 'engine'],
  [{ kind: 'piece' }, 'audio'],
  [{ kind: 'request' }, 'audio'],
  ...[400, 413, 415, 422].map((status): [EngineFailure, 'audio'] => [{ kind: 'status', status }, 'audio']),
  ...[301, 401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529].map((status): [EngineFailure, 'engine'] => [
    { kind: 'status', status },
    'engine',
  ]),
];

for (const [failure, fault] of OF_ENGINES) {
  test(`an engine's failure ${JSON.stringify(failure)} is the fault of the ${fault}`, () => {
    assert.equal(faultOf(Object.assign(new Error('of an engine'), { failure })), fault);
  });
}

const BY_CODE: [string, Fault | null][] = [
  ['ECONNREFUSED', 'network'],
  ['ECONNRESET', 'network'],
  ['EAI_AGAIN', 'network'],
  ['ENOTFOUND', 'network'],
  ['CERT_HAS_EXPIRED', 'network'],
  ['EIO', 'storage'],
  ['ENOSPC', 'storage'],
  ['EROFS', 'storage'],
  ['57P01', 'database'],
  ['25006', 'database'],
  ['08006', 'database'],
  ['40001', 'database'],
  ['EPIPE', 'network'],
  ['ENOENT', null],
  ['ERR_ASSERTION', null],
];

for (const [code, fault] of BY_CODE) {
  test(`an error with the code ${code} is the fault of ${fault ?? 'the service'}`, () => {
    assert.equal(faultOf(Object.assign(new Error('with a code'), { code })), fault);
  });
}

test('an error that names its fault has it, whatever its code is', () => {
  assert.equal(faultOf(Object.assign(new Error('a disk'), { fault: 'storage', code: 'ECONNRESET' })), 'storage');
});

test('what is no error, and an error that tells nothing, is nobody’s fault', () => {
  assert.deepEqual(
    [null, undefined, 'text', 7, new Error('a bug')].map((error) => faultOf(error)),
    [null, null, null, null, null],
  );
});
