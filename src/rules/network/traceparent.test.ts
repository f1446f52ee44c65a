import assert from 'node:assert/strict';
import test from 'node:test';
import { readTraceparent, traceField } from './traceparent.ts';

const [TRACE, PARENT] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const VALID = `00-${TRACE}-${PARENT}-01`;

test('a valid traceparent is kept; one of a later version as version 00', () => {
  assert.equal(readTraceparent(VALID), VALID);
  assert.equal(readTraceparent(` ${VALID} `), VALID);
  assert.equal(readTraceparent(`cc-${TRACE}-${PARENT}-00-what-comes`), `00-${TRACE}-${PARENT}-00`);
  assert.deepEqual(traceField(VALID), { trace_id: TRACE });
});

test('every other header is ignored', () => {
  for (const header of [
    ...[undefined, '', 'x', `00-${TRACE}-${PARENT}`, `${VALID}-more`, `ff-${TRACE}-${PARENT}-01`],
    ...[`00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`, VALID.toUpperCase()],
    ...[`00-${TRACE}x-${PARENT}-01`, `${VALID}\r\nx: y`],
  ])
    assert.equal(readTraceparent(header), null, String(header));
  assert.deepEqual(traceField(null), {});
});
