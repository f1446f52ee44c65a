import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import pg from 'pg';
import { createBackup } from '../../src/db/backup/create-backup.ts';
import { markLoaded, markLoading } from '../../src/db/backup/restore-marker.ts';
import { openDatabase } from '../../src/db/database.ts';
import { socketFolder } from '../../src/db/embedded/place.ts';
import { serviceUrl } from '../../src/db/embedded/role.ts';
import { startEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { openEmptyDatabase, type TestDatabase } from '../fixtures/database/test-database.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { readCatalogue } from '../upgrade/catalogue.ts';
import { loadVersion } from '../upgrade/load.ts';

const REFUSED = /A restore into .* has not ended\. Run the same "verbatim restore" again/;
const KEY = Buffer.alloc(32, 5).toString('base64');

let original: TestDatabase;
let backup: string;
let audio: string[];

before(async () => {
  original = await openEmptyDatabase();
  await loadVersion(original, '143cffd1', '127.0.0.1:1');
  await migrate(original);
  const folder = temporaryFolder();
  const rows = await original.rows<{ key: string }>({
    text: `update jobs set audio_key = coalesce(audio_key, gen_random_uuid()::text) where state <> 'queued' returning audio_key as key`,
  });
  audio = rows.map(({ key }) => key).sort();
  mkdirSync(path.join(folder, 'audio'));
  for (const key of audio) writeFileSync(path.join(folder, 'audio', key), `audio of ${key}`.repeat(20_000));
  backup = path.join(folder, 'backup.tar.gz');
  await createBackup(createWriteStream(backup), {
    url: original.url,
    audioDir: path.join(folder, 'audio'),
    secretsKey: KEY,
    onProgress: () => undefined,
  });
});

after(() => original[Symbol.asyncDispose]());

// Shares of the file that the restore has been given when it is killed: before its header, in its rows, in its audio,
// and before its end.
for (const share of [0, 0.1, 0.5, 0.999]) {
  test(`a restore that is killed after ${share * 100} % of the backup is refused by the service, and done by the next restore`, async () => {
    await using database = await openEmptyDatabase();
    const outside = { DATA_DIR: path.join(temporaryFolder(), 'data'), DATABASE_URL: database.url };
    const embedded = { DATA_DIR: path.join(temporaryFolder(), 'data') };
    for (const env of [outside, embedded] as Record<string, string>[]) {
      const hasBegun = await killAfter(share, env);

      assert.equal(hasBegun, share > 0);
      if (hasBegun) {
        await assert.rejects(openService({ ...env }, env['DATA_DIR']!), REFUSED);
        assert.match((await run(['backup', '-'], env)).stderr, REFUSED);
      }
      if (hasBegun && env === outside) {
        const elsewhere = { ...env, DATA_DIR: temporaryFolder() };
        await assert.rejects(openService(elsewhere, elsewhere.DATA_DIR), REFUSED);
      }
      const again = await run(['restore', backup], env);
      assert.equal(again.code, 0, again.stderr);
      await requireWhole(env);
      assert.match((await run(['restore', backup], env)).stderr, /is not empty/);
    }
  });
}

test('two restores into one folder do not take each other over', async () => {
  const env = { DATA_DIR: path.join(temporaryFolder(), 'data') };
  const first = start(['restore', '-'], env);
  first.stdin.write(part(0.5));
  await until('the restore to begin', () => first.errors().includes('backup of'));

  const second = await run(['restore', backup], env);

  assert.equal(second.code, 1);
  assert.match(second.stderr, /is in use by process \d+/);
  first.stdin.end(readFileSync(backup).subarray(part(0.5).length));
  assert.equal(await first.ended, 0, first.errors());
  await requireWhole(env);
});

test('a restore that was killed when all was loaded is finished by the next one, or by the service', async () => {
  await using database = await openEmptyDatabase();
  const env = { DATA_DIR: path.join(temporaryFolder(), 'data'), DATABASE_URL: database.url };
  assert.equal((await run(['restore', backup], env)).code, 0);
  const takenAt = /whole: (\S+),/.exec((await run(['backup', 'verify', backup], {})).stdout)![1]!;
  const mark = async () => {
    await markLoading(database);
    await markLoaded(database, takenAt);
  };

  await mark();
  mkdirSync(path.join(env.DATA_DIR, 'unfinished-restore'));
  await assert.rejects(openService(env, env.DATA_DIR), REFUSED);
  const finished = await run(['restore', backup], env);

  assert.equal(finished.code, 0, finished.stderr);
  assert.match(finished.stderr, /had loaded everything/);
  await requireWhole(env);
  await mark();
  assert.equal((await run(['backup', '-'], env)).code, 0);
  await requireWhole(env);
});

/** Kills the restore when it waits for more than this share. Resolves with whether it had begun. */
async function killAfter(share: number, env: Record<string, string>): Promise<boolean> {
  const restore = start(['restore', '-'], env);
  const given = part(share);
  if (given.length > 0) {
    restore.stdin.write(given);
    await until('the restore to begin', () => restore.errors().includes('backup of'));
  }
  restore.kill();
  await restore.ended;
  return existsSync(path.join(env['DATA_DIR']!, 'unfinished-restore'));
}

function part(share: number): Buffer {
  const whole = readFileSync(backup);
  return whole.subarray(0, Math.floor(whole.length * share));
}

/** All rows, all audio, the key, and no mark. */
async function requireWhole(env: Record<string, string>): Promise<void> {
  const dataDir = env['DATA_DIR']!;
  assert.deepEqual(readdirSync(path.join(dataDir, 'audio')).sort(), audio);
  for (const key of audio)
    assert.equal(readFileSync(path.join(dataDir, 'audio', key), 'utf8'), `audio of ${key}`.repeat(20_000));
  assert.equal(readFileSync(path.join(dataDir, 'secrets-key'), 'utf8').trim(), KEY);
  assert.ok(!existsSync(path.join(dataDir, 'unfinished-restore')));
  const dir = path.join(dataDir, 'database');
  const server = env['DATABASE_URL'] ? null : await startEmbedded({ dir, log: { debug() {}, warn() {} } });
  const db = openDatabase(env['DATABASE_URL'] ?? serviceUrl(dir, socketFolder(dir)), { maxConnections: 1 });
  try {
    assert.deepEqual(await readCatalogue(db), await readCatalogue(original));
    for (const table of ['accounts', 'api_keys', 'jobs', 'ledger', 'webhooks', 'events', 'deliveries', 'attempts']) {
      const text = `select count(*), min(t::text), max(t::text) from ${pg.escapeIdentifier(table)} t`;
      assert.deepEqual(await db.rows({ text }), await original.rows({ text }), table);
    }
  } finally {
    await db.close();
    await server?.stop();
  }
}

function start(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [path.join(ROOT, 'src/cli/main.ts'), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (written.stdout += chunk));
  child.stderr.on('data', (chunk) => (written.stderr += chunk));
  // It may have ended.
  child.stdin.on('error', () => undefined);
  return {
    stdin: child.stdin,
    errors: () => written.stderr,
    output: () => written.stdout,
    kill: () => child.kill('SIGKILL'),
    ended: new Promise<number | null>((resolve) => child.on('close', resolve)),
  };
}

/** Runs a command as `bin/verbatim` does. */
async function run(args: string[], env: Record<string, string>) {
  const command = start(args, env);
  command.stdin.end();
  const code = await command.ended;
  return { code, stdout: command.output(), stderr: command.errors() };
}
