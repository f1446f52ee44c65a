import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import pg from 'pg';
import { type OutsideDatabase, startOutside } from '../../test/fixtures/database/outside-postgres.ts';
import { until } from '../../test/fixtures/until.ts';
import { type CertificateAuthority, makeAuthority } from '../demo/certificates.ts';
import { openLog } from '../platform/log.ts';
import { prepareOutside } from '../processes/outside-database.ts';
import { cancelStatement } from './cancel.ts';
import { checkUrls } from './check-urls.ts';
import { connectionOptions, DatabaseClient } from './connection.ts';
import { type Database, openDatabase } from './database.ts';
import { holdSessionLock } from './session-lock.ts';

const IS_TLS = { text: 'select ssl as "isTls" from pg_stat_ssl where pid = pg_backend_pid()' };
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
const [caFile, otherCaFile, clientCert, clientKey] = ['ca.pem', 'other.pem', 'client.pem', 'client.key'].map((name) =>
  path.join(home, name),
) as [string, string, string, string];
const authority = makeAuthority();
let server: OutsideDatabase;
let withoutTls: OutsideDatabase;

before(async () => {
  // Read by PostgreSQL's user, which is another one where the test runs as root.
  fs.chmodSync(home, 0o755);
  fs.writeFileSync(caFile, authority.cert);
  fs.writeFileSync(otherCaFile, makeAuthority('Another CA').cert);
  const client = authority.issue({ hosts: ['verbatim'] });
  fs.writeFileSync(clientCert, client.cert);
  fs.writeFileSync(clientKey, client.key, { mode: 0o600 });
  server = await startWithTls(path.join(home, 'tls'), authority);
  withoutTls = await startOutside(path.join(home, 'plain'));
});

after(async () => {
  await Promise.all([server?.stop(), withoutTls?.stop()]);
  fs.rmSync(home, { recursive: true });
});

const CASES: [string, string, RegExp | 'tls'][] = [
  ['require without a CA only encrypts', 'sslmode=require', 'tls'],
  ['require with the CA', 'sslmode=require&sslrootcert=CA', 'tls'],
  ['require with another CA checks the chain', 'sslmode=require&sslrootcert=OTHER', /self-signed|verify|issuer/],
  ['verify-ca with the CA, by a name that the certificate lacks', 'sslmode=verify-ca&sslrootcert=CA', 'tls'],
  ['verify-ca with another CA', 'sslmode=verify-ca&sslrootcert=OTHER', /self-signed|verify|issuer/],
  ['verify-full by a name that the certificate lacks', 'sslmode=verify-full&sslrootcert=CA', /does not match/],
  ['verify-full without the CA', 'sslmode=verify-full', /self-signed|verify|issuer/],
  ['the CAs of the machine', 'sslrootcert=system', /self-signed|verify|issuer/],
  ['prefer', 'sslmode=prefer', 'tls'],
  ['allow', 'sslmode=allow', 'tls'],
];

for (const [title, query, expected] of CASES) {
  test(`${title}: ${expected === 'tls' ? 'connects with TLS' : 'is refused'}`, async () => {
    const url = urlOf(server, query);
    if (expected === 'tls') assert.deepEqual(await ask(url), [{ isTls: true }]);
    else await assert.rejects(ask(url), expected);
  });
}

test('verify-full connects by the name in the certificate', async () => {
  const url = urlOf(server, 'sslmode=verify-full&sslrootcert=CA').replace('127.0.0.1', 'localhost');

  assert.deepEqual(await ask(url), [{ isTls: true }]);
});

test('disable does without TLS, and prefer where the server has none; require is refused there', async () => {
  const url = urlOf(withoutTls, 'sslmode=prefer');

  assert.deepEqual(await ask(urlOf(server, 'sslmode=disable')), [{ isTls: false }]);
  assert.deepEqual(await ask(url), [{ isTls: false }]);
  await assert.rejects(ask(urlOf(withoutTls, 'sslmode=require')), /does not support SSL/);
  await assert.rejects(start(urlOf(withoutTls, 'sslmode=require')), /Let the server take TLS \(ssl = on\)/);
});

test('each kind of connection uses TLS: pool, brief, transaction, LISTEN, pooled, checks and locks', async () => {
  const url = urlOf(server, 'sslmode=verify-ca&sslrootcert=CA');
  const db = openDatabase(url, { maxConnections: 6 });
  const pooled = openDatabase(`${url}&application_name=pooled`, { maxConnections: 1, directUrl: url });
  const heard = Promise.withResolvers<string>();
  await db.listen('tls_test', (payload) => payload && heard.resolve(payload));
  db.notify('tls_test', 'word');
  const lock = await holdSessionLock(url, 'tls-test');

  assert.deepEqual(await db.rows(IS_TLS), [{ isTls: true }]);
  assert.deepEqual(await db.rows({ ...IS_TLS, isBrief: true }), [{ isTls: true }]);
  assert.deepEqual(await db.transaction((tx) => tx.rows(IS_TLS)), [{ isTls: true }]);
  assert.deepEqual(await pooled.rows(IS_TLS), [{ isTls: true }]);
  assert.equal(await heard.promise, 'word');
  assert.ok(lock.isHeld());
  assert.equal(await checkUrls({ url, directUrl: url }), false);
  const [{ plain }] = (await db.rows({
    text: `select count(*)::integer as plain from pg_stat_activity join pg_stat_ssl using (pid)
      where not ssl and backend_type = 'client backend'`,
  })) as [{ plain: number }];
  assert.equal(plain, 0);
  await lock.release();
  await Promise.all([db.close(), pooled.close()]);
});

test('a statement is cancelled over TLS', async () => {
  const url = urlOf(server, 'sslmode=require');
  for (const given of [url, urlOf(server, 'sslmode=prefer')]) {
    const client = new DatabaseClient(connectionOptions(given));
    await client.connect();
    const slept = client.query('select pg_sleep(600)').catch((error: { code: string }) => error.code);
    await cancelStatement(client);

    assert.equal(await slept, '57014');
    await client.end();
  }
});

test('a server that asks for a certificate of the client gets it', async () => {
  await onServer(server, `hostssl all all 127.0.0.1/32 trust clientcert=verify-ca`, async () => {
    const own = `sslcert=${encodeURIComponent(clientCert)}&sslkey=${encodeURIComponent(clientKey)}`;

    assert.deepEqual(await ask(urlOf(server, `sslmode=require&${own}`)), [{ isTls: true }]);
    await assert.rejects(start(urlOf(server, 'sslmode=require')), /sslcert=<file>&sslkey=<file> in DATABASE_URL/);
    await assert.rejects(start(urlOf(server, 'sslmode=disable')), /takes connections with TLS only: add sslmode/);
  });
});

test('a start ends with the cause and what to do', async () => {
  await assert.rejects(start(urlOf(server, 'sslmode=verify-full')), /sslmode=verify-full&sslrootcert=<file>/);
  await assert.rejects(
    start(urlOf(server, 'sslmode=verify-full&sslrootcert=CA')),
    /Name the host in DATABASE_URL as the certificate names it/,
  );
  await assert.rejects(
    start(urlOf(server, 'sslmode=verify-full&sslrootcert=/missing/ca.pem')),
    /names \/missing\/ca\.pem as sslrootcert, which cannot be read \(ENOENT\)/,
  );
  fs.writeFileSync(path.join(home, 'no.pem'), 'nothing');
  await assert.rejects(
    start(urlOf(server, `sslmode=verify-ca&sslrootcert=${encodeURIComponent(path.join(home, 'no.pem'))}`)),
    /is no PEM file/,
  );
});

/** By an address, which the certificate does not have. */
function urlOf({ url }: OutsideDatabase, query: string): string {
  const files = query
    .replace('=CA', `=${encodeURIComponent(caFile)}`)
    .replace('=OTHER', `=${encodeURIComponent(otherCaFile)}`);
  return `${url}?${files}`;
}

async function ask(url: string): Promise<unknown[]> {
  const db: Database = openDatabase(url, { maxConnections: 1 });
  try {
    return await db.rows(IS_TLS);
  } finally {
    await db.close();
  }
}

/** What the start of the service does with the database. */
async function start(url: string): Promise<unknown> {
  const stop = new AbortController();
  const log = openLog('silent', {});
  return await prepareOutside({ url, directUrl: url }, { log, signal: stop.signal, check: async () => undefined });
}

async function startWithTls(dir: string, { cert, issue }: CertificateAuthority): Promise<OutsideDatabase> {
  fs.mkdirSync(dir, { mode: 0o700 });
  const issued = issue({ hosts: ['localhost'] });
  const files = { ssl_cert_file: issued.cert, ssl_key_file: issued.key, ssl_ca_file: cert };
  const settings: Record<string, string> = { ssl: 'on', fsync: 'off' };
  for (const [name, pem] of Object.entries(files)) {
    settings[name] = path.join(dir, name);
    fs.writeFileSync(settings[name], pem, { mode: 0o600 });
    // The user that PostgreSQL runs as, where the test runs as root.
    if (process.getuid?.() === 0) fs.chownSync(settings[name], 65_534, 65_534);
  }
  return await startOutside(dir, settings);
}

/** Runs with other rules of who may connect. */
async function onServer({ url }: OutsideDatabase, rule: string, work: () => Promise<void>): Promise<void> {
  const file = path.join(home, 'tls/cluster/pg_hba.conf');
  const rules = fs.readFileSync(file, 'utf8');
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const use = async (text: string) => {
    fs.writeFileSync(file, text);
    const { rows } = await admin.query('select pg_conf_load_time() as at, pg_reload_conf()');
    await until('the new settings', async () => {
      const { rows: now } = await admin.query('select pg_conf_load_time() > $1 as "isNew"', [rows[0].at]);
      return now[0].isNew;
    });
  };
  await use(`${rule}\n`);
  try {
    await work();
  } finally {
    await use(rules);
    await admin.end();
  }
}
