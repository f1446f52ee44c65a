import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHttpRequest } from './read-http-request.ts';

const read = (text: string) => {
  const request = readHttpRequest(text);
  return request && { ...request, headers: { ...request.headers }, body: Buffer.from(request.body).toString() };
};

test('a message is read with its first line and without, with either line end', () => {
  const expected = { headers: { Host: ['a'], 'X-A': ['b: c'] }, body: '{"x":1}' };

  assert.deepEqual(read('POST /hooks HTTP/1.1\r\nHost: a\r\nX-A: b: c\r\n\r\n{"x":1}'), expected);
  assert.deepEqual(read('Host: a\nX-A:  b: c \n\n{"x":1}'), expected);
  assert.deepEqual(read('> POST /hooks HTTP/1.1\n> Host: a\n> X-A: b: c\n\n{"x":1}'), expected);
});

test('a header that comes twice has both values', () => {
  assert.deepEqual(read('A: 1\nA: 2\n\n')!.headers, { A: ['1', '2'] });
});

test('the body keeps its bytes, blank lines and line ends', () => {
  const head = 'A: 1\r\n\r\n';
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0x0d, 0x0a, 0x0d, 0x0a, 0x00])]);

  assert.deepEqual([...readHttpRequest(bytes)!.body], [0xff, 0x0d, 0x0a, 0x0d, 0x0a, 0x00]);
});

test('a line end after the body that Content-Length does not count is left out', () => {
  assert.equal(read('content-length: 2\n\n{}\n')!.body, '{}');
  assert.equal(read('content-length: 3\n\n{}\n')!.body, '{}\n');
  assert.equal(read('content-length: 2\n\n{} x')!.body, '{} x');
  assert.equal(read('A: 1\n\n{}\n')!.body, '{}\n');
});

test('a text that is no request is refused', () => {
  for (const text of ['', '{"a":1}', 'hello\n\n{}', '\n\n{}']) assert.equal(readHttpRequest(text), null);
});
