import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { until } from '../../../test/fixtures/until.ts';
import { openDatabase } from '../database.ts';
import { migrate } from '../schema/migrate.ts';
import { readMigrations } from '../schema/migrations.ts';
import { postgresEnvironment } from './libraries.ts';
import { asPostgresUser, makeFolder } from './place.ts';
import { findPrograms } from './programs.ts';
import { startEmbedded } from './server.ts';

const log = { debug() {}, warn() {} };

describe('the role of the service in the embedded PostgreSQL', () => {
  test('is no superuser: it runs no program and reads no file of the machine', async () => {
    await using server = await openServer();

    const [role] = await query(server.url, 'select rolsuper, rolcreatedb from pg_roles where rolname = current_user');

    assert.deepEqual(role, { rolsuper: false, rolcreatedb: false });
    await assert.rejects(query(server.url, "copy (select 1) to program 'id'"), { code: '42501' });
    await assert.rejects(query(server.url, "create table t (a text); copy t from '/etc/passwd'"), { code: '42501' });
    await assert.rejects(query(server.url, "select pg_read_file('/etc/passwd')"), { code: '42501' });
    await assert.rejects(query(server.url, 'set role verbatim'), { code: '42501' });
  });

  test('needs its password, which only the service can read, and the superuser cannot log in', async () => {
    await using server = await openServer();
    const without = new URL(server.url);
    without.password = '';
    const asSuperuser = new URL(without);
    asSuperuser.username = 'verbatim';

    await assert.rejects(query(without.href, 'select 1'), /password/);
    await assert.rejects(query(asSuperuser.href, 'select 1'), { code: '28000' });
    const files = fs.readdirSync(server.dir).filter((name) => name.includes('password'));
    assert.equal(files.length, 1);
    assert.equal(fs.statSync(path.join(server.dir, files[0]!)).mode & 0o777, 0o600);
  });

  test('is made again where its making was cut short', async () => {
    await using server = await openServer();
    await query(server.url, 'create table kept as select 1 as n');
    await server.stop();
    fs.rmSync(path.join(server.dir, 'service-password'));

    const again = await server.start();

    assert.deepEqual(await query(again, 'select n from kept'), [{ n: 1 }]);
  });

  test('takes over all that the release before made as superuser, and migrates it further', async () => {
    await using server = await openServer(makeClusterOfReleaseBefore);
    const db = openDatabase(server.url, { maxConnections: 1 });
    const sql = 'alter table accounts add column newer integer; create table newer (id bigserial primary key)';
    const newer = { version: 9999, name: '9999_newer.sql', sql };

    try {
      assert.deepEqual(await migrate(db, [...readMigrations(), newer]), ['9999_newer.sql']);
    } finally {
      await db.close();
    }
    const [row] = await query(server.url, 'insert into kept (text) values (default) returning id, text');
    const foreign = await query(
      server.url,
      `select relname
       from pg_class
       where relnamespace = 'public'::regnamespace and relowner <> (select oid from pg_roles where rolname = current_user)`,
    );
    assert.deepEqual(row, { id: 2, text: 'of before' });
    assert.deepEqual(foreign, []);
    assert.deepEqual(await query(server.url, 'select current_user as name'), [{ name: 'service' }]);
  });
});

/** A server in a folder of its own, stopped and removed when disposed. */
async function openServer(prepare: (dir: string) => Promise<void> = async () => undefined) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const dir = path.join(home, 'database');
  makeFolder(dir);
  await prepare(dir);
  let server = await startEmbedded({ dir, log });
  return {
    dir,
    url: server.url,
    stop: () => server.stop(),
    async start(): Promise<string> {
      server = await startEmbedded({ dir, log });
      return server.url;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

/** What release 0.1.0 made: a superuser who needs no password, and who owns everything. */
async function makeClusterOfReleaseBefore(dir: string): Promise<void> {
  const cluster = path.join(dir, 'pg18');
  const options = ['-D', cluster, '-U', 'verbatim', '-A', 'trust', '--no-locale', '-E', 'UTF8'];
  await once(run(dir, ['initdb', ...options]), 'close');
  const server = run(dir, [
    'postgres',
    '-D',
    cluster,
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${dir}`,
  ]);
  const url = `postgres://verbatim@localhost/postgres?host=${encodeURIComponent(dir)}`;
  await until('PostgreSQL to answer', () => query(url, 'select 1').catch(() => null));
  const db = openDatabase(url, { maxConnections: 1 });
  await migrate(db);
  await db.close();
  await query(url, `create table kept (id bigint generated always as identity, text text default 'of before')`);
  await query(url, 'create sequence apart; insert into kept (text) values (default)');
  server.kill('SIGINT');
  await once(server, 'exit');
}

function run(dir: string, [program, ...args]: ['initdb' | 'postgres', ...string[]]) {
  const { bin, packageFolder } = findPrograms();
  const [command, ...rest] = asPostgresUser(dir, [path.join(bin, program), ...args]);
  return spawn(command!, rest, { cwd: '/', env: postgresEnvironment(dir, packageFolder), stdio: 'ignore' });
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
