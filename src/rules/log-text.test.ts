import assert from 'node:assert/strict';
import test from 'node:test';
import { textOfLogLine } from './log-text.ts';

const LINE = { level: 'warn', time: '2026-11-24T10:11:12.345Z', role: 'http', msg: 'request' };

test('a line shows time, level, role, message and the other fields', () => {
  const line = textOfLogLine(JSON.stringify({ ...LINE, status: 404, path: '/v1/jobs', agent: 'a b', ids: ['x'] }));

  assert.equal(line, '10:11:12 warn  http request status=404 path=/v1/jobs agent="a b" ids=["x"]\n');
});

test('control characters in names, messages and values do not reach the terminal', () => {
  const evil = 'a\u001b]0;x\u0007\u009b31m\r\n\u202e\u007f';
  const line = textOfLogLine(JSON.stringify({ ...LINE, msg: evil, [evil]: evil, deep: { [evil]: [evil] } }));

  assert.match(line, /^[\x20-\x7e]+\n$/);
});
