import { isTlsFailure } from './database-failure.ts';
import type { SchemaState } from './schema-state.ts';

/** Why a schema does not fit this release, as a sentence; null where the node works with it. */
export function reasonOfSchema(state: SchemaState, release: string): string | null {
  switch (state.kind) {
    case 'same':
      return null;
    case 'older':
      return `The database lacks migrations of this release (${state.missing.join(', ')}). Restart the node: its start applies them.`;
    case 'changed':
      return `The database was migrated with another ${state.names.join(', ')} than this release has. Start the release that migrated it.`;
    case 'newer': {
      // Migrations only add: the nodes of one release keep working while those of the next replace them.
      if (state.isNextRelease) return null;
      const found = `${state.newest.version}${state.newest.release ? ` of release ${state.newest.release}` : ''}`;
      return `The database has schema ${found}, which is too new for this release, ${release}. Start the newer release.`;
    }
  }
}

const REASONS: [RegExp, string][] = [
  [/^25006$/, 'The database takes no writes: it is a standby, or was demoted. DATABASE_URL must name the primary.'],
  [/^53100$/, 'The disk of the database is full.'],
  [/^53300$/, 'The database has no connection left for this node.'],
  [/^(58|XX)/, 'The database has an error of its disk or its files; see its log.'],
  [/^42/, 'The database lacks tables of the service, or its user lacks rights to them.'],
  [/^E[MN]FILE$/, 'The node has no file descriptor left for a connection to the database.'],
  [/^28/, 'The database refuses the user or the password of DATABASE_URL.'],
  [/^3D/, 'The server has no database of the name in DATABASE_URL.'],
  [/^57P0[123]$/, 'The database cannot be reached: its server is starting or stopping.'],
  [/^57014$/, 'The database answers too late: a statement was ended. See its load and its locks.'],
  [/^(ENOTFOUND|EAI_)/, 'The database cannot be reached: the name of its host cannot be resolved.'],
  [/^(ECONNREFUSED|ENOENT)$/, 'The database cannot be reached: nothing listens at its address.'],
  [/^(EHOST|ENET)/, 'The database cannot be reached: there is no route to its host.'],
  [/^(ETIMEDOUT|$)/, 'The database cannot be reached: it does not answer in time, or has closed the connection.'],
];

/**
 * Why a row could not be written, as a sentence.
 * @param code  SQLSTATE, or the code of a system error; null for an error of the client's own timers
 */
export function reasonOfFailure(code: string | null): string {
  const reason = REASONS.find(([pattern]) => pattern.test(code ?? ''))?.[1];
  if (reason) return reason;
  if (code && isTlsFailure(code)) return `The database cannot be reached: TLS with its server fails (${code}).`;
  return `The database cannot be reached (${code}).`;
}

export type DiskState = { freeBytes: number; freeInodes: number; inodes: number };

// Each upload and each job makes a few files, and PostgreSQL a file per table and index.
const MIN_FREE_INODES = 1_000;

/** Why uploads to a disk are refused, as a sentence; null while it has its reserve. */
export function reasonOfDisk(folder: string, disk: DiskState, minFreeBytes: number): string | null {
  if (disk.freeBytes < minFreeBytes) {
    const [free, reserve] = [disk.freeBytes, minFreeBytes].map((bytes) => Math.floor(bytes / 2 ** 20));
    return `The disk of ${folder} has ${free} MiB left, less than the reserve of ${reserve} MiB (MIN_FREE_DISK_BYTES).`;
  }
  // Some file systems make inodes as they need them, and report none.
  if (disk.inodes > 0 && disk.freeInodes < Math.min(MIN_FREE_INODES, disk.inodes / 100))
    return `The disk of ${folder} has ${disk.freeInodes} inodes left: it takes no more files.`;
  return null;
}
