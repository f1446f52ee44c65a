import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';

/**
 * The folder of the migrations, and of the list of their hashes, `SHA256SUMS`.
 * @internal  a test compares both
 */
export const FOLDER = path.join(ROOT, 'src/db/migrations');

export type Migration = { version: number; name: string; sql: string };

/** The numbered files of `migrations/`, in order. Each runs once per database; a file that has landed never changes. */
export function readMigrations(): Migration[] {
  const files = readdirSync(FOLDER)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort();
  return files.map((name) => ({
    version: Number(name.slice(0, 4)),
    name,
    sql: readFileSync(path.join(FOLDER, name), 'utf8'),
  }));
}

/** SHA-256 of a migration's text, in hex, as `sha256sum` prints it. */
export function hashOf({ sql }: Pick<Migration, 'sql'>): string {
  return createHash('sha256').update(sql).digest('hex');
}
