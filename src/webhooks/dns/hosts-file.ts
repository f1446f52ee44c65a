import { readFile, stat } from 'node:fs/promises';

export type HostsFile = {
  /** The addresses that the file gives a name, in its order; empty when it names none. */
  addressesOf(hostname: string): Promise<string[]>;
};

const SYSTEM_HOSTS_FILE = '/etc/hosts';
// A change is in force this soon; at thousands of look-ups a second the file is not asked for each time.
const FRESH_MS = 1_000;

/** The names that the operator has given addresses by hand. The file is read again after it has changed. */
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
      // A system without the file, or one that is just being replaced: names are looked up without it.
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

/** Names in lower case, with their addresses, of a text in the format of hosts(5). */
export function parseHosts(text: string): Map<string, string[]> {
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
