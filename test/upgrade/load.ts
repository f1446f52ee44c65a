import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { prepareVersions } from '../../src/db/schema/versions.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { type Made, RECEIVER } from './traffic.ts';

const BEFORE_HASHES = '143cffd1';

/** The versions whose data is kept here, oldest first: the names of the folders. */
export const VERSIONS = [BEFORE_HASHES, '787ccadd'];

/** The key that the rows of all dumps are encrypted with. */
export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

export function readMade(version: string): Made {
  return JSON.parse(read(version, 'made.json')) as Made;
}

/**
 * Gives an empty database the schema and the rows of a version, as if the version had been killed now. What was due ten
 * minutes later is due.
 * @param receiver  host and port that take the place of those in the dump
 */
export async function loadVersion(db: Database, version: string, receiver: string): Promise<void> {
  await installSchema(db, version);
  for (const text of read(version, 'rows.dump').replaceAll(RECEIVER, receiver).trim().split('\n'))
    await db.run({ text });
  await moveToNow(db);
}

/** The schema with its record: of 143cffd1, from before release 0.2.0, without a hash. */
export async function installSchema(db: Database, version: string): Promise<void> {
  await db.run({ text: read(version, 'schema.sql') });
  if (version !== BEFORE_HASHES) return await prepareVersions(db);
  await db.run({
    text: `create table schema_versions
      (version integer primary key, name text not null, applied_at timestamptz not null default now())`,
  });
  await db.run({ text: `insert into schema_versions (version, name) values (1, '0001_initial.sql')` });
}

/** Gives each job that has not ended its audio: what the tone model reads as the text in its metadata. */
export async function writeAudio(db: Database, dataDir: string): Promise<void> {
  const jobs = await db.rows<{ key: string; metadata: string }>({
    text: `select audio_key as key, metadata from jobs where completed_at is null and audio_key is not null`,
  });
  mkdirSync(path.join(dataDir, 'audio'), { recursive: true });
  for (const { key, metadata } of jobs)
    writeFileSync(path.join(dataDir, 'audio', key), toneWav((JSON.parse(metadata) as { call: string }).call));
}

/** Retention deletes what is old, and a dump only gets older: all times move by the age of the dump. */
async function moveToNow(db: Database): Promise<void> {
  const columns = await db.rows<{ table: string; names: string[] }>({
    text: `
      select c.relname as table, array_agg(a.attname::text) as names
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'timestamptz'::regtype and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'schema_versions'
      group by c.relname`,
  });
  const [{ age }] = (await db.rows<{ age: string }>({
    text: `select (now() - max(created_at))::text as age from jobs`,
  })) as [{ age: string }];
  for (const { table, names } of columns) {
    const changes = names.map((name) => `${name} = ${name} + $1::interval`).join(', ');
    await db.run({ text: `update ${table} set ${changes}`, values: [age] });
  }
  await db.run({ text: 'update deliveries set next_at = now()' });
}

function read(version: string, name: string): string {
  return readFileSync(path.join(ROOT, 'test/upgrade', version, name), 'utf8');
}
