import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { descendantsOf, type ProcessEntry } from '../../test/fixtures/processes/process-list.ts';

/** A value by name of its series. */
export type Sample = Map<string, Measured>;
export type Measured = { value: number; unit: string; noise: number };

export type SampleSource = {
  db: Database;
  servicePid: number;
  postgresPid: number;
  /** Folder of the database, with the write-ahead log somewhere below. */
  databaseFolder: string;
  dataDir: string;
};

const MIB = 2 ** 20;
// What a healthy process gains and gives back: garbage collection, buffers of connections.
const MEMORY_NOISE_MIB = 12;
const DESCRIPTOR_NOISE = 8;
// Tables without history. Autovacuum returns space at the end of a table only.
const TABLE_NOISE_MIB = 4;
const ROWS_NOISE = 200;
// Autovacuum cleans a table when a fifth of it is dead.
const DEAD_NOISE = 2_000;
// Segments of 16 MB are recycled, not deleted.
const WAL_NOISE_MIB = 64;
const SCRIPT = /([a-z-]+)\.js$/;
const RUNNING = ['service', 'role-process', 'main'];

/** Tables that keep what has ended until its retention; each grows with the work, and its rows should not. */
const HISTORY = [
  ...['jobs', 'transcript_chunks', 'job_metadata', 'events', 'attempts', 'ledger'],
  ...['audit_log', 'live_sessions', 'job_pieces'],
];

/** Memory and open files of each kind of process; rows, dead rows and size of each table; the write-ahead log; disk. */
export async function takeSample(source: SampleSource): Promise<Sample> {
  const sample: Sample = new Map();
  for (const [name, pids] of processGroups(source)) {
    const add = (what: string, value: number, unit: string, noise: number) =>
      sample.set(`${what}: ${name}`, { value, unit, noise });
    add('memory', sum(pids, proportionalBytes) / MIB, 'MiB', MEMORY_NOISE_MIB * pids.length);
    add('descriptors', sum(pids, openFiles), '', DESCRIPTOR_NOISE);
  }
  await addTables(sample, source.db);
  const walBytes = folderBytes(findFolder(source.databaseFolder, 'pg_wal'));
  sample.set('write-ahead log on disk', { value: walBytes / MIB, unit: 'MiB', noise: WAL_NOISE_MIB });
  const audioBytes = folderBytes(path.join(source.dataDir, 'audio'));
  sample.set('audio on disk', { value: audioBytes / MIB, unit: 'MiB', noise: TABLE_NOISE_MIB });
  return sample;
}

/** The processes that last, by kind; decoders in the sandbox come and go. */
function processGroups({ servicePid, postgresPid }: SampleSource): Map<string, number[]> {
  const all = descendantsOf(servicePid);
  const groups = new Map<string, number[]>([['parent', [servicePid]]]);
  for (const entry of all) {
    const name = nameOf(entry, all);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), entry.pid]);
  }
  groups.set('PostgreSQL', [postgresPid, ...descendantsOf(postgresPid).map(({ pid }) => pid)]);
  return groups;
}

/** A role's process by its roles, an engine's by its program and its role's; null for all others. */
function nameOf(entry: ProcessEntry, all: ProcessEntry[]): string | null {
  const at = entry.arguments.findIndex((argument) => SCRIPT.test(argument));
  if (at < 0) return null;
  const script = SCRIPT.exec(entry.arguments[at]!)![1]!;
  if (RUNNING.includes(script)) return entry.arguments.slice(at + 1).join(' ');
  const parent = all.find(({ pid }) => pid === entry.parent);
  return `${script} of ${(parent && nameOf(parent, all)) ?? 'parent'}`;
}

async function addTables(sample: Sample, db: Database): Promise<void> {
  const tables = await db.rows<{ name: string; bytes: string; live: string; dead: string }>({
    text: `
      select coalesce(p.relname, c.relname) as name, sum(pg_total_relation_size(c.oid)) as bytes,
        sum(pg_stat_get_live_tuples(c.oid)) as live, sum(pg_stat_get_dead_tuples(c.oid)) as dead
      from pg_class c
      left join pg_inherits i on i.inhrelid = c.oid
      left join pg_class p on p.oid = i.inhparent
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      group by 1
      order by 1`,
  });
  for (const { name, bytes, live } of tables) {
    const rows = Number(live);
    if (HISTORY.includes(name)) {
      // A new table has pages for rows to come.
      if (rows >= ROWS_NOISE)
        sample.set(`bytes per row: ${name}`, { value: Number(bytes) / rows, unit: 'B', noise: 200 });
    } else {
      sample.set(`size: ${name}`, { value: Number(bytes) / MIB, unit: 'MiB', noise: TABLE_NOISE_MIB });
      sample.set(`rows: ${name}`, { value: rows, unit: '', noise: ROWS_NOISE });
    }
  }
  const dead = sum(tables, (table) => Number(table.dead));
  sample.set('dead rows, all tables', { value: dead, unit: '', noise: DEAD_NOISE });
}

/** Memory with shared pages divided among their users, in bytes; 0 when the process has ended. */
function proportionalBytes(pid: number): number {
  return readOr0(
    () => 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
  );
}

function openFiles(pid: number): number {
  return readOr0(() => readdirSync(`/proc/${pid}/fd`).length);
}

function folderBytes(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return sum(files, ({ parentPath, name }) => readOr0(() => statSync(path.join(parentPath, name)).size));
}

/** The folder of this name below another one, at most two levels down. */
function findFolder(folder: string, name: string): string {
  const parents = [folder, ...readdirSync(folder).map((child) => path.join(folder, child))];
  return path.join(parents.find((parent) => readOr0(() => Number(readdirSync(parent).includes(name))) === 1)!, name);
}

/** What is read of a process or file that may end meanwhile. */
function readOr0(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}

function sum<Value>(values: Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
