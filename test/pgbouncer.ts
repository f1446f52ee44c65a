import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { asPostgresUser } from '../src/db/embedded/place.ts';
import { freePort } from '../src/demo/service.ts';
import { until } from './until.ts';

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((file) => fs.existsSync(file));

/** Why no test can run behind PgBouncer here, else false: for the option `skip` of a test. */
export const WITHOUT_PGBOUNCER = PROGRAM ? false : 'pgbouncer is missing. Type: apt-get install pgbouncer';

export type PgBouncer = AsyncDisposable & { url: string };

/**
 * Debian's PgBouncer in front of the database that `url` names, with its default settings: pools of 20 connections.
 * Clients authenticate with a password, as its default `auth_type` wants.
 */
export async function startPgBouncer(
  url: string,
  poolMode: 'session' | 'transaction' | 'statement',
): Promise<PgBouncer> {
  const server = new URL(url);
  const socket = server.searchParams.get('host');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-pgbouncer-'));
  // PgBouncer does not run as root, and the socket of the test server is for its user alone.
  const { uid, gid } = fs.statSync(socket ?? folder);
  if (process.getuid?.() === 0) fs.chownSync(folder, uid, gid);
  const [user, database, port] = [decodeURIComponent(server.username), server.pathname.slice(1), await freePort(0)];
  const target = [
    `host=${socket ?? server.hostname}`,
    `port=${server.port || 5432}`,
    `user=${user}`,
    ...(server.password ? [`password=${decodeURIComponent(server.password)}`] : []),
  ];
  const settings = [
    '[databases]',
    `${database} = ${target.join(' ')}`,
    '[pgbouncer]',
    ...['listen_addr=127.0.0.1', `listen_port=${port}`, 'unix_socket_dir='],
    ...[`auth_file=${path.join(folder, 'users.txt')}`, `pool_mode=${poolMode}`],
  ];
  fs.writeFileSync(path.join(folder, 'users.txt'), `"${user}" "secret"\n`, { mode: 0o644 });
  fs.writeFileSync(path.join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`, { mode: 0o644 });
  const [command, ...args] = asPostgresUser(folder, [PROGRAM!, path.join(folder, 'pgbouncer.ini')]);
  const child = spawn(command!, args, { cwd: '/', stdio: 'ignore' });
  const exited = once(child, 'exit');
  const own = `postgres://${server.username}:secret@127.0.0.1:${port}/${database}`;
  await until('PgBouncer to answer', () => answers(own));
  return {
    url: own,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      fs.rmSync(folder, { recursive: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
