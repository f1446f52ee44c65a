import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { asPostgresUser } from '../src/db/embedded/place.ts';
import { freePort } from '../src/demo/service.ts';
import { testAuthority } from './receiver.ts';
import { temporaryFolder } from './service.ts';
import { until } from './until.ts';

const TINYPROXY = ['/usr/bin/tinyproxy', '/usr/sbin/tinyproxy'].find((file) => fs.existsSync(file));
const NOBODY = 65_534;
const SQUID = ['/usr/sbin/squid'].find((file) => fs.existsSync(file));

/** Why no test can run behind the proxy here, else false: for the option `skip` of a test. */
export const WITHOUT_TINYPROXY = TINYPROXY ? false : 'tinyproxy is missing. Type: apt-get install tinyproxy-bin';
export const WITHOUT_SQUID = SQUID ? false : 'squid is missing. Type: apt-get install squid-openssl';

export type EgressProxy = AsyncDisposable & {
  /** host:port. */
  address: string;
  /** What it has logged: a line with each CONNECT. */
  logText(): string;
};

/** Debian's tinyproxy, which asks for user `verbatim` and password `pass.word`, and connects to these ports only. */
export async function startTinyproxy(ports: readonly number[]): Promise<EgressProxy> {
  return await startProxy(TINYPROXY!, ({ folder, port, logFile }) => {
    const settings = [
      ...[`Port ${port}`, 'Listen 127.0.0.1', 'Allow 127.0.0.1', 'Timeout 60', 'MaxClients 100'],
      ...['BasicAuth verbatim pass.word', `LogFile "${logFile}"`, 'LogLevel Connect'],
      ...ports.map((allowed) => `ConnectPort ${allowed}`),
    ];
    const file = path.join(folder, 'tinyproxy.conf');
    fs.writeFileSync(file, `${settings.join('\n')}\n`);
    return ['-d', '-c', file];
  });
}

/** Debian's squid, spoken to over TLS with a certificate for 127.0.0.1. */
export async function startSquid(): Promise<EgressProxy> {
  return await startProxy(SQUID!, ({ folder, port, logFile }) => {
    const { cert, key } = testAuthority.issue({ hosts: ['127.0.0.1'] });
    const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
    fs.writeFileSync(certFile, cert);
    fs.writeFileSync(keyFile, key);
    const settings = [
      ...[`https_port 127.0.0.1:${port} tls-cert=${certFile} tls-key=${keyFile}`, 'http_access allow all'],
      ...[`access_log stdio:${logFile}`, `cache_log ${path.join(folder, 'cache.log')}`, 'cache deny all'],
      ...['pid_filename none', 'visible_hostname proxy.example', 'shutdown_lifetime 0 seconds', 'pinger_enable off'],
      'max_filedescriptors 1024',
    ];
    const file = path.join(folder, 'squid.conf');
    fs.writeFileSync(file, `${settings.join('\n')}\n`);
    // Its shared memory is named after the service, and removed by an orderly end.
    return ['-N', '-n', `verbatim${port}`, '-f', file];
  });
}

type Place = { folder: string; port: number; logFile: string };

async function startProxy(program: string, argsFor: (place: Place) => string[]): Promise<EgressProxy> {
  const folder = temporaryFolder();
  const logFile = path.join(folder, 'access.log');
  const port = await freePort(0);
  const args = argsFor({ folder, port, logFile });
  // Squid does not run as root.
  if (process.getuid?.() === 0)
    for (const name of ['', ...fs.readdirSync(folder)]) chownToNobody(path.join(folder, name));
  const [command, ...rest] = asPostgresUser(folder, [program, ...args]);
  const child = spawn(command!, rest, { cwd: '/', stdio: 'ignore' });
  const exited = once(child, 'exit');
  await until(`${path.basename(program)} to listen`, () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    return accepts(port);
  });
  return {
    address: `127.0.0.1:${port}`,
    logText: () => (fs.existsSync(logFile) ? fs.readFileSync(logFile, 'utf8') : ''),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function chownToNobody(file: string): void {
  fs.chownSync(file, NOBODY, NOBODY);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
