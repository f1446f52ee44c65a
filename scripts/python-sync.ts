import fs from 'node:fs';
import path from 'node:path';

const PACKAGE = path.join(import.meta.dirname, '../sdk/python/src/verbatim_sdk');
// Written by hand for each of the clients.
const BY_HAND = ['io.py', 'live.py'];
const HEADER = '# Made from ../_async by `node scripts/docs.ts`; do not edit.\n';

/** What the synchronous client has in place of words of the asynchronous one; the longer ones first. */
const REPLACEMENTS: [asynchronous: RegExp, synchronous: string][] = [
  [/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]'],
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\baclosing\b/g, 'closing'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
  [/\ba(close|read|iter_bytes)\b/g, '$1'],
  [/\bAsync([A-Z]\w*)\b/g, '$1'],
  [/\bshared by tasks\b/g, 'shared by threads'],
  [/"""The asynchronous client\..*"""/g, '"""The synchronous client, made from `_async` by `node scripts/docs.ts`."""'],
];

/**
 * The modules of the synchronous Python client, made from those of the asynchronous one: path from the root, and text.
 */
export function writeSyncClient(): Record<string, string> {
  const names = fs
    .readdirSync(path.join(PACKAGE, '_async'))
    .filter((name) => name.endsWith('.py') && !BY_HAND.includes(name));
  return Object.fromEntries(
    names.map((name) => {
      const text = fs.readFileSync(path.join(PACKAGE, '_async', name), 'utf8');
      return [`sdk/python/src/verbatim_sdk/_sync/${name}`, HEADER + toSync(text)];
    }),
  );
}

function toSync(text: string): string {
  return REPLACEMENTS.reduce(
    (changed, [asynchronous, synchronous]) => changed.replace(asynchronous, synchronous),
    text,
  );
}
