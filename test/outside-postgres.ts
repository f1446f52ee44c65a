import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { asPostgresUser, makeFolder, programPath } from '../src/db/embedded/place.ts';

export type OutsideDatabase = { url: string; version: string; stop(): Promise<void> };

const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 20;

/**
 * A PostgreSQL such as an operator would name in DATABASE_URL: over TCP, with its own defaults. The system's when it is
 * installed (Debian), since that is another version; else the embedded one's programs.
 */
export async function startOutside(dir: string): Promise<OutsideDatabase> {
  makeFolder(dir);
  const cluster = path.join(dir, 'cluster');
  await run(
    asPostgresUser(dir, [find('initdb'), '-D', cluster, '-U', 'verbatim', '-A', 'trust', '-E', 'UTF8', '--no-locale']),
  );
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${dir}`,
    'max_connections=400',
  ];
  const flags = [...settings, 'fsync=off'].flatMap((setting) => ['-c', setting]);
  const [program, ...args] = asPostgresUser(dir, [find('postgres'), '-D', cluster, ...flags]);
  const server = spawn(program!, args, { cwd: '/', detached: true, stdio: 'ignore' });
  const exited = once(server, 'exit');
  const url = `postgres://verbatim@127.0.0.1:${port}/postgres`;
  return {
    url,
    version: await untilAnswered(url),
    async stop() {
      server.kill('SIGINT');
      await exited;
    },
  };
}

function find(program: 'postgres' | 'initdb'): string {
  const [installed] = fs.globSync(`/usr/lib/postgresql/*/bin/${program}`).sort().reverse();
  return installed ?? programPath(program);
}

async function run([program, ...args]: string[]): Promise<void> {
  const child = spawn(program!, args, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with code ${code}`);
}

async function untilAnswered(url: string): Promise<string> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return `PostgreSQL ${(await client.query('show server_version')).rows[0].server_version}`;
    } catch (cause) {
      if (performance.now() > deadlineMs) throw cause;
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
