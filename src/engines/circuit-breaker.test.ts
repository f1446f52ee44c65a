import assert from 'node:assert/strict';
import test from 'node:test';
import { openCircuit } from './circuit-breaker.ts';
import { isEngineError } from './registry/conformance.ts';

/** A circuit that opens after three failures, for 1000 ms, and a clock that stands still. */
function openEnvironment() {
  let now = 5000;
  const circuit = openCircuit({ failuresMax: 3, restMs: 1000, nowMs: () => now });
  const visit = (end: 'answered' | 'unanswered' | 'withdrawn') => {
    using stay = circuit.enter();
    if (end !== 'withdrawn') stay[end]();
  };
  const fail = (times: number) => Array.from({ length: times }, () => visit('unanswered'));
  return { circuit, visit, fail, pass: (ms: number) => (now += ms) };
}

const isRefusal = isEngineError('engine_error');

test('the circuit opens after so many calls in a row without an answer', () => {
  const { circuit, visit, fail } = openEnvironment();

  fail(2);
  visit('answered');
  fail(2);
  const before = circuit.isOpen();
  fail(1);

  assert.equal(before, false);
  assert.equal(circuit.isOpen(), true);
  assert.throws(() => circuit.enter(), isRefusal);
});

test('after its rest one call tries, and the others still fail at once: it stays open until that one is answered', () => {
  const { circuit, fail, pass } = openEnvironment();
  fail(3);
  pass(1000);

  const isOpenAfterRest = circuit.isOpen();
  using probe = circuit.enter();

  assert.equal(isOpenAfterRest, true);
  assert.throws(() => circuit.enter(), isRefusal);
  probe.answered();
  assert.equal(circuit.isOpen(), false);
});

test('a try that is answered closes the circuit', () => {
  const { circuit, visit, fail, pass } = openEnvironment();
  fail(3);
  pass(1000);

  visit('answered');

  assert.equal(circuit.isOpen(), false);
  circuit.enter();
});

test('a try without an answer starts the rest anew', () => {
  const { circuit, fail, pass } = openEnvironment();
  fail(3);
  pass(1000);
  fail(1);

  pass(999);

  assert.throws(() => circuit.enter(), isRefusal);
});

test('a try that was withdrawn lets the next one try', () => {
  const { circuit, visit, fail, pass } = openEnvironment();
  fail(3);
  pass(1000);

  visit('withdrawn');

  visit('answered');
  assert.equal(circuit.isOpen(), false);
});

test('a call that was answered once and then broken off does not count against the server', () => {
  const { circuit } = openEnvironment();

  for (let call = 0; call < 5; call += 1) {
    using stay = circuit.enter();
    stay.answered();
    stay.unanswered();
  }

  assert.equal(circuit.isOpen(), false);
});
