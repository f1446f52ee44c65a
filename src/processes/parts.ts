import type { Role } from '../config/settings.ts';
import type { Part } from '../rules/network/connection-share.ts';

// One process for both takes 17 MB less at rest, and less processor time. On more cores each can use a core of its own.
const CORES_TO_SHARE = 2;

/**
 * The processes of a node, each by its parts, in the order in which they are forked: what takes long to be ready goes
 * ahead. `http` runs on every node. It has the janitor beside it, whose statements take a few ms per minute.
 * @param cores  those that the node may use
 */
export function processesFor(roles: Role[], cores: number): Part[][] {
  const all: Part[][] =
    cores <= CORES_TO_SHARE
      ? [
          ['transcriber', 'deliverer'],
          ['http', 'janitor'],
        ]
      : [['transcriber'], ['http', 'janitor'], ['deliverer']];
  return all
    .map((parts) => parts.filter((part) => part === 'http' || roles.includes(part)))
    .filter((parts) => parts.length > 0);
}
