import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Role } from '../config/settings.ts';
import { processesFor } from './parts.ts';

const ALL: Role[] = ['api', 'transcriber', 'deliverer', 'janitor'];

test('on one or two cores, transcriber and deliverer share a process', () => {
  for (const cores of [1, 2])
    assert.deepEqual(processesFor(ALL, cores), [
      ['transcriber', 'deliverer'],
      ['http', 'janitor'],
    ]);
});

test('on more cores, transcriber and deliverer have a process each', () => {
  for (const cores of [3, 64])
    assert.deepEqual(processesFor(ALL, cores), [['transcriber'], ['http', 'janitor'], ['deliverer']]);
});

test('every node runs http, and no part of a role that it does not have', () => {
  for (const cores of [1, 4]) {
    assert.deepEqual(processesFor(['api'], cores), [['http']]);
    assert.deepEqual(processesFor(['janitor'], cores), [['http', 'janitor']]);
    assert.deepEqual(processesFor(['transcriber'], cores), [['transcriber'], ['http']]);
    assert.deepEqual(processesFor(['deliverer'], cores).toSorted(), [['deliverer'], ['http']]);
  }
});
