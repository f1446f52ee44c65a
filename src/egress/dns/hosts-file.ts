import { readFile, stat } from 'node:fs/promises';

export type HostsFile = {
  /** The addresses of a name, in the order of the file; empty when the name is not in the file. */
  addressesOf(hostname: string): Promise<string[]>;
};

const SYSTEM_HOSTS_FILE = '/etc/hosts';
// A change takes effect within this time. Checking the file at each of thousands of lookups per second would be slow.
const FRESH_MS = 1_000;

/** The names of the hosts file, which is read again when it has changed. */
export function openHostsFile(file: string = SYSTEM_HOSTS_FILE): HostsFile {
  let addresses: Promise<Map<string, string[]>> = Promise.resolve(new Map());
  let version = '';
  let checkedAtMs = Number.NEGATIVE_INFINITY;

  async function read(before: Promise<Map<string, string[]>>): Promise<Map<string, string[]>> {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const found = `${mtimeMs} ${size} ${ino}`;
      if (found === version) return await before;
      version = found;
      return parseHosts(await readFile(file, 'utf8'));
    } catch {
      // There is no file, or it is just being replaced.
      version = '';
      return new Map();
    }
  }

  return {
    async addressesOf(hostname) {
      if (performance.now() - checkedAtMs >= FRESH_MS) {
        checkedAtMs = performance.now();
        addresses = read(addresses);
      }
      return (await addresses).get(hostname) ?? [];
    },
  };
}

/** The names in a text in the format of hosts(5), in lower case, with their addresses. */
function parseHosts(text: string): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line
      .replace(/#.*/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (address === undefined) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      const known = addresses.get(key);
      if (known) known.push(address);
      else addresses.set(key, [address]);
    }
  }
  return addresses;
}
