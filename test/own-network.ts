import { execFile, execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './service.ts';

/** How to get a network of one's own here; null where the system allows none. */
export function ownNetworkCommand(): string[] | null {
  const ways = [
    ['unshare', '--mount', '--net'],
    ['unshare', '--map-root-user', '--mount', '--net'],
  ];
  return ways.find(([program = '', ...args]) => runs(program, ...args, 'ip', 'link', 'set', 'lo', 'up')) ?? null;
}

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a script of this folder in a network of its own, and returns what it says as JSON on standard output. Nothing
 * leaves that network, so that any address can be on its loopback and any port be taken.
 */
export async function runInOwnNetwork(command: readonly string[], script: string): Promise<unknown> {
  const file = path.join(import.meta.dirname, script);
  const args = [...command.slice(1), process.execPath, file];
  const { stdout } = await promisify(execFile)(command[0]!, args, { maxBuffer: 2 ** 26, timeout: 60_000 });
  return JSON.parse(stdout);
}

/**
 * Inside: puts addresses on the loopback, and makes the name server at 127.0.0.1 everybody's. Returns those it got.
 * @param hosts  what /etc/hosts holds beside localhost
 */
export function prepareOwnNetwork(addresses: readonly string[], hosts = ''): string[] {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const folder = temporaryFolder();
  const files = {
    'resolv.conf': 'nameserver 127.0.0.1\n',
    hosts: `127.0.0.1 localhost\n${hosts}`,
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(folder, name), text);
    execFileSync('mount', ['--bind', path.join(folder, name), `/etc/${name}`]);
  }
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return addresses.filter((address) => {
    if (address === '127.0.0.1' || address === '::1') return true;
    const isIpv6 = address.includes(':');
    // Without nodad an address is not yet there when it is first used.
    return runs('ip', 'addr', 'add', `${address}/${isIpv6 ? 128 : 32}`, 'dev', 'lo', ...(isIpv6 ? ['nodad'] : []));
  });
}
