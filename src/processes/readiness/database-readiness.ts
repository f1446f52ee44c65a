import type { Runtime } from '../../db/runtime.ts';
import { knownMigrations, listVersions, stateOf } from '../../db/schema/versions.ts';
import { touchNode } from '../../operator/node-store.ts';
import { VERSION } from '../../platform/installation.ts';
import { readAtMostEvery } from '../../platform/read-at-most-every.ts';
import { reasonOfFailure, reasonOfSchema } from '../../rules/database/readiness-reasons.ts';

// Probes come every 2 s or more often, also from several load balancers: each write is a commit that waits for the
// disk.
const WRITE_EVERY_MS = 4_000;

/**
 * Why the database does not serve this node: its schema is not that of the release, or no row can be written. A write
 * that succeeded counts for 4 s; one that failed is tried again by each check.
 */
export function openDatabaseReadiness({ db, clock }: Pick<Runtime, 'db' | 'clock'>, nodeId: string) {
  const write = readAtMostEvery(clock, WRITE_EVERY_MS, () => touchNode(db, nodeId));
  return async (): Promise<string[]> => {
    try {
      const [versions] = await Promise.all([listVersions(db), write()]);
      const reason = reasonOfSchema(stateOf(versions, knownMigrations()), VERSION);
      return reason === null ? [] : [reason];
    } catch (error) {
      const code = (error as { code?: unknown } | null)?.code;
      return [reasonOfFailure(typeof code === 'string' ? code : null)];
    }
  };
}
