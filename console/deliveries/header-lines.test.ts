import assert from 'node:assert/strict';
import test from 'node:test';
import { readHeaderLines } from './header-lines.ts';

test('headers are read line by line, with colons in their values', () => {
  const headers = readHeaderLines('Authorization: Bearer a:b=\r\n\n  X-Tenant:acme  \n__proto__: x');

  assert.deepEqual(Object.entries(headers), [
    ['Authorization', 'Bearer a:b='],
    ['X-Tenant', 'acme'],
    ['__proto__', 'x'],
  ]);
  assert.deepEqual(readHeaderLines('\n'), {});
});

test('a line that is no header is refused without repeating it', () => {
  assert.match(String(readHeaderLines('Bearer secret')), /^Write one header per line/);
  assert.doesNotMatch(String(readHeaderLines('my secret: 1')), /secret/);
  assert.match(String(readHeaderLines('X-A:')), /X-A has no value/);
});
