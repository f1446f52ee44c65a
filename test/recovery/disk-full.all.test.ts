import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { runOnSmallDisk, smallDiskWay } from '../fixtures/database/small-disk.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import type { FullDiskReport } from './disk-full-service.ts';

const way = smallDiskWay();
const skip = way === null && 'no disk can be mounted here: neither root with its rights nor user namespaces (unshare)';

const HARMLESS = {
  refusedWithoutRetryAfter: 0,
  processesEnded: 0,
  filesLeft: 0,
  jobsNotCompleted: 0,
  acceptedJobsLost: 0,
  jobsNotEnded: 0,
  jobsEndedTwice: 0,
  eventsLost: 0,
  unknownEvents: 0,
  badSignatures: 0,
  attemptsOutOfRange: 0,
  driftedLedgers: 0,
  unitsStillHeld: 0,
};

test('a full disk is answered 503; once it has free space, the database and the service work again', {
  skip,
}, async () => {
  const report = await runFull('all', '256m');

  assert.deepEqual(outcomeOf(report), { ...HARMLESS, statuses: ['202', '503'], databaseEnded: true });
});

test('a full disk of the uploads is answered 503 for uploads only; all other requests succeed', {
  skip,
}, async () => {
  const report = await runFull('audio', '32m');

  assert.deepEqual(outcomeOf(report), { ...HARMLESS, statuses: ['202', '503'], databaseEnded: false });
});

async function runFull(what: 'all' | 'audio', size: string): Promise<FullDiskReport> {
  const folder = temporaryFolder();
  const disk = {
    size,
    folder: path.join(folder, 'disk'),
    script: path.join(import.meta.dirname, 'disk-full-service.ts'),
    args: [what, folder],
  };
  try {
    return (await runOnSmallDisk(way!, disk)) as FullDiskReport;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The results that do not depend on the machine's speed. */
function outcomeOf(report: FullDiskReport) {
  const { answers, databaseEnded, refusedWithoutRetryAfter, processesEnded, filesLeft, jobsNotCompleted } = report;
  const { repeatedDeliveries: _allowed, ...findings } = report.findings;
  const counts = { refusedWithoutRetryAfter, processesEnded, filesLeft, jobsNotCompleted, ...findings };
  return { ...counts, statuses: Object.keys(answers).sort(), databaseEnded };
}
