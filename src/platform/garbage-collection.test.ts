import assert from 'node:assert/strict';
import test from 'node:test';
import { idleCheck, noteSpent } from './garbage-collection.ts';

test('used buffers are collected once for every 8 MiB, young ones only', () => {
  const asked: unknown[] = [];
  const collect = (options: unknown) => void asked.push(options);

  for (let chunk = 0; chunk < 2 ** 8; chunk += 1) noteSpent(2 ** 16, collect);

  assert.deepEqual(asked, [{ type: 'minor' }, { type: 'minor' }]);
});

test('a process that becomes idle collects twice, and again after its heap has grown', () => {
  const usage = { cpuMs: 0, heapMib: 30 };
  let collections = 0;
  const measure = () => ({ cpuMs: usage.cpuMs, heapBytes: usage.heapMib * 2 ** 20 });
  const check = idleCheck(measure, (options) => {
    assert.deepEqual(options, { type: 'major', flavor: 'last-resort' });
    collections += 1;
    usage.heapMib = 12;
    usage.cpuMs += 500;
  });
  /** The number of collections after a check 5 s later. */
  const after = (cpuMs: number, heapMib: number) => {
    usage.cpuMs += cpuMs;
    usage.heapMib = heapMib;
    check();
    return collections;
  };

  const busy = after(101, 30);
  const idle = after(100, 30);
  const busyAgain = after(101, 12);
  const stillIdle = [after(100, 12), after(100, 14.9)];
  const grown = [after(100, 15), after(100, 12), after(100, 12)];

  assert.deepEqual(
    { busy, idle, busyAgain, stillIdle, grown },
    { busy: 0, idle: 1, busyAgain: 1, stillIdle: [2, 2], grown: [3, 4, 4] },
  );
});

test('the collection frees used buffers', () => {
  const { arrayBuffers } = process.memoryUsage();

  for (let chunk = 0; chunk < 2 ** 10; chunk += 1) noteSpent(new Uint8Array(2 ** 16).length);

  assert.ok(process.memoryUsage().arrayBuffers < arrayBuffers + 2 ** 24);
});
