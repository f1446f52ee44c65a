import { mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openFileStorage } from '../../src/audio/storage/storage.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { eraseEndedAudio, sweepOrphans } from '../../src/jobs/retention/audio-sweep.ts';
import { type ClientResults, openAccount, resultsOf, startClients } from '../faults/clients.ts';
import { countViolations, drained, type Findings, type Seen } from '../faults/history.ts';
import { openServiceUnderLoad, type ServiceUnderLoad } from '../faults/service-under-load.ts';
import { audioFilesIn } from '../fixtures/audio/audio-files.ts';
import { fillDisk } from '../fixtures/database/small-disk.ts';
import { isAlive } from '../fixtures/processes/process-list.ts';
import { runtimeOn } from '../fixtures/runtime.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';

// Runs in a process of its own, in which a small disk is mounted at <folder>/disk: a service under load whose disk
// becomes full and then has free space again. Writes a report as JSON to standard output.

export type FullDisk = 'all' | 'audio';

export type FullDiskReport = ClientResults & {
  /** Whether PostgreSQL had to end; it does when it cannot write its log. */
  databaseEnded: boolean;
  processesEnded: number;
  /**
   * Of uploads whose job has ended, or that were refused; when the database was away, those that its sweeps left too.
   */
  filesLeft: number;
  jobsNotCompleted: number;
  recoveryMs: number;
  findings: Findings;
};

const FULL_MS = 3_000;
const REFILL_EVERY_MS = 20;
const ACCEPTED_BEFORE = 5;
const REFUSED_AT_LEAST = 5;

async function run(what: FullDisk, folder: string): Promise<FullDiskReport> {
  const disk = path.join(folder, 'disk');
  const dataDir = path.join(what === 'all' ? disk : folder, 'data');
  mkdirSync(dataDir);
  // Only the audio is on the small disk, as with a separate disk for uploads.
  if (what === 'audio') symlinkSync(disk, path.join(dataDir, 'audio'));
  const seen: Seen[] = [];
  await using receiver = await openReceiver({
    reply(request) {
      seen.push({ request, status: 204 });
      return { status: 204 };
    },
  });
  // The disk is smaller than the reserve: without this setting, all uploads would be refused before it is full.
  const env = { LOG_LEVEL: 'info', MIN_FREE_DISK_BYTES: '0' };
  await using service = await openServiceUnderLoad('embedded', receiver, env, dataDir);
  const accounts = [await openAccount(service, receiver), await openAccount(service, receiver)];
  const clients = startClients(service, accounts, { mostOpen: 20, ended: () => seen.length });
  await until('the first jobs', () => clients.accepted.size >= ACCEPTED_BEFORE);
  const pids = service.servicePids();
  const [postgres] = service.find('postgres');

  const filler = path.join(disk, 'filler');
  const fullUntilMs = performance.now() + FULL_MS;
  while (performance.now() < fullUntilMs || clients.refusals.length < REFUSED_AT_LEAST) {
    fillDisk(filler);
    if (what === 'all') await writeLog(service).catch(() => undefined);
    await pause(REFILL_EVERY_MS);
  }
  const databaseEnded = !isAlive(postgres!);
  const acceptedBefore = clients.accepted.size;
  rmSync(filler);
  const backAtMs = performance.now();
  await until('an accepted job', () => clients.accepted.size > acceptedBefore);
  const recoveryMs = performance.now() - backAtMs;
  const processesEnded = pids.filter((pid) => !isAlive(pid)).length;
  await clients.stop();

  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  try {
    await drained(db);
    const audio = path.join(dataDir, 'audio');
    if (what === 'all') await sweepAudio(db, audio);
    await until('the audio to be erased', () => audioFilesIn(audio).length === 0, 5_000).catch(() => undefined);
    const [open] = await db.rows<{ number: number }>({
      text: `select count(*) as number from jobs where state <> 'completed'`,
    });
    return {
      ...resultsOf(clients),
      databaseEnded,
      processesEnded,
      filesLeft: audioFilesIn(audio).length,
      jobsNotCompleted: open!.number,
      recoveryMs: Math.round(recoveryMs),
      findings: await countViolations(db, clients.accepted, seen),
    };
  } finally {
    await db.close();
  }
}

/** Runs the janitor's sweeps, which delete the audio of uploads whose connection broke. */
async function sweepAudio(db: Database, audio: string): Promise<void> {
  const runtime = runtimeOn(db, { storage: await openFileStorage(audio) });
  for (const name of readdirSync(audio)) utimesSync(path.join(audio, name), 0, 0);
  await eraseEndedAudio(runtime, 0);
  await sweepOrphans(runtime);
}

/** Fills the space that PostgreSQL has reserved for its write-ahead log. */
async function writeLog(service: ServiceUnderLoad): Promise<void> {
  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  try {
    await db.rows({ text: `select pg_logical_emit_message(false, 'fill', repeat('x', 10000000), true)` });
  } finally {
    await db.close();
  }
}

const [what, folder] = process.argv.slice(2) as [FullDisk, string];
const report = await run(what, folder);
process.stdout.write(JSON.stringify(report));
