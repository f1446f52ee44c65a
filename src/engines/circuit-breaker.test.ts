import assert from 'node:assert/strict';
import test from 'node:test';
import { isEngineError } from '../../test/fixtures/engine-conformance.ts';
import { openCircuitBreaker } from './circuit-breaker.ts';

/** A circuit that opens after three failures, for 1000 ms, with a manual clock. */
function openEnvironment() {
  let now = 5000;
  const circuit = openCircuitBreaker({ failuresMax: 3, restMs: 1000, nowMs: () => now });
  const call = (outcome: 'responded' | 'failed' | 'aborted') => {
    using permit = circuit.acquire();
    if (outcome !== 'aborted') permit[outcome]();
  };
  const fail = (times: number) => Array.from({ length: times }, () => call('failed'));
  return { circuit, call, fail, advance: (ms: number) => (now += ms) };
}

const isRefusal = isEngineError('engine_error');

test('the circuit opens after three failures in a row', () => {
  const { circuit, call, fail } = openEnvironment();

  fail(2);
  call('responded');
  fail(2);
  const before = circuit.isOpen();
  fail(1);

  assert.equal(before, false);
  assert.equal(circuit.isOpen(), true);
  assert.throws(() => circuit.acquire(), isRefusal);
});

test('after the rest one trial call is allowed, and the circuit stays open for other calls until it gets a response', () => {
  const { circuit, fail, advance } = openEnvironment();
  fail(3);
  advance(1000);

  const isOpenAfterRest = circuit.isOpen();
  using trial = circuit.acquire();

  assert.equal(isOpenAfterRest, true);
  assert.throws(() => circuit.acquire(), isRefusal);
  trial.responded();
  assert.equal(circuit.isOpen(), false);
});

test('a trial that gets a response closes the circuit', () => {
  const { circuit, call, fail, advance } = openEnvironment();
  fail(3);
  advance(1000);

  call('responded');

  assert.equal(circuit.isOpen(), false);
  circuit.acquire();
});

test('a failed trial starts another rest', () => {
  const { circuit, fail, advance } = openEnvironment();
  fail(3);
  advance(1000);
  fail(1);

  advance(999);

  assert.throws(() => circuit.acquire(), isRefusal);
});

test('after an aborted trial the next call is the trial', () => {
  const { circuit, call, fail, advance } = openEnvironment();
  fail(3);
  advance(1000);

  call('aborted');

  call('responded');
  assert.equal(circuit.isOpen(), false);
});

test('a call that fails after a response does not count as a failure', () => {
  const { circuit } = openEnvironment();

  for (let calls = 0; calls < 5; calls += 1) {
    using permit = circuit.acquire();
    permit.responded();
    permit.failed();
  }

  assert.equal(circuit.isOpen(), false);
});
