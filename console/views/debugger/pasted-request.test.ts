import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { parsePastedRequest, writeRequest } from './pasted-request.ts';

const BODY = '{"id":"evt_1",\n\n "text":"é: x"}';
const HEAD = ['POST /hook HTTP/1.1', 'Host: a.example', 'X-Service-Signature: 5d41', 'x-a: 1', 'x-a: 2'];
const HEADERS = { Host: ['a.example'], 'X-Service-Signature': ['5d41'], 'x-a': ['1', '2'] };

const FORMS: [string, string][] = [
  ['as raw HTTP', `${HEAD.join('\n')}\n\n${BODY}`],
  ['after blank lines', `\n \n${HEAD.join('\n')}\n\n${BODY}`],
  ['as an event of a function', JSON.stringify({ headers: HEADERS, body: BODY, isBase64Encoded: false })],
  [
    'as an event of a function in base64',
    JSON.stringify({ headers: HEADERS, body: Buffer.from(BODY).toString('base64'), isBase64Encoded: true }),
  ],
  ['as the debugger writes it', writeRequest({ headers: HEADERS, body: BODY })],
];
for (const [form, text] of FORMS) {
  test(`a request ${form} is read, its body unchanged`, () => {
    assert.deepEqual(parsePastedRequest(text), { headers: HEADERS, body: BODY });
  });
}

test('a body that is only marked as base64 stays as it is', () => {
  assert.equal(parsePastedRequest(JSON.stringify({ headers: {}, body: '%', isBase64Encoded: true }))!.body, '%');
});

test('other text is refused, and none makes it throw', () => {
  assert.equal(parsePastedRequest(' \n'), null);
  assert.equal(parsePastedRequest('{"id":"evt_1"}'), null);
  const random = randomFrom(20261122);
  const pieces = [
    'A: b',
    '__proto__: c',
    '\n',
    '\r\n',
    '>',
    ' ',
    ':',
    '{',
    '{"headers":{},"body":""}',
    'é',
    '\u0000',
    'null',
  ];
  for (let round = 0; round < 2_000; round++) {
    const text = Array.from({ length: random.integer(12) }, () => random.pick(pieces)).join('');
    const request = parsePastedRequest(text);
    if (request) assert.equal(typeof request.body, 'string');
  }
});
