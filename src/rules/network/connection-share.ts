/** What a process of a node can run: a role, where `http` is the role `api` or, without it, the operator's surface. */
export type Part = keyof typeof FULL;

/** Connections that each part of a node opens at most, where nothing limits them; measured under full load. */
const FULL = { http: 20, transcriber: 10, deliverer: 8, janitor: 3 };
// One for LISTEN in each process.
const LISTENING = 3;
// The parent's: a lock on the node's name, and one that releases what a process left behind.
const PARENT = 2;
const FEWEST = 2;

/** PgBouncer's own `default_pool_size`: what a node may take behind a pooler that pools by session. */
export const SESSION_POOL_CONNECTIONS = 20;
/** Below it no part could work beside its own transactions. */
export const FEWEST_CONNECTIONS = LISTENING + PARENT + FEWEST * Object.keys(FULL).length;
/** What a whole node opens at most. */
export const FULL_CONNECTIONS = LISTENING + PARENT + Object.values(FULL).reduce((sum, count) => sum + count, 0);

/** Size of a part's pool, when a whole node may open `total` connections; null for no limit. */
export function connectionShare(part: Part, total: number | null): number {
  if (total === null || total >= FULL_CONNECTIONS) return FULL[part];
  const [spare, mostSpare] = [total - FEWEST_CONNECTIONS, FULL_CONNECTIONS - FEWEST_CONNECTIONS];
  return FEWEST + Math.max(0, Math.floor((spare * (FULL[part] - FEWEST)) / mostSpare));
}
