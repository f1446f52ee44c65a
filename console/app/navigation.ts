import type { OwnAccount } from '#sdk/wire.ts';
import type { Session } from '../session/session.ts';

export type Scope = OwnAccount['scopes'][number];

/** An entry of the navigation, of the palette and of the keys that follow g. */
export type NavigationEntry = {
  path: string;
  label: string;
  /** Pressed after g. */
  letter: string;
  /** Who may open it: a key with this scope (`any`: each key), or the operator. */
  needs: Scope | 'any' | 'operator';
};

const NAVIGATION: readonly NavigationEntry[] = [
  { path: '/', label: 'Home', letter: 'h', needs: 'any' },
  { path: '/transcribe', label: 'Transcribe', letter: 't', needs: 'jobs:write' },
  { path: '/live', label: 'Live', letter: 'v', needs: 'jobs:write' },
  { path: '/jobs', label: 'Jobs', letter: 'j', needs: 'jobs:read' },
  { path: '/search', label: 'Search', letter: 'f', needs: 'jobs:read' },
  { path: '/webhooks', label: 'Webhooks', letter: 'w', needs: 'webhooks:read' },
  { path: '/deliveries', label: 'Deliveries', letter: 'd', needs: 'webhooks:read' },
  { path: '/events', label: 'Events', letter: 'e', needs: 'webhooks:read' },
  { path: '/debugger', label: 'Signature debugger', letter: 's', needs: 'any' },
  { path: '/usage', label: 'Usage', letter: 'u', needs: 'usage:read' },
  { path: '/keys', label: 'Keys', letter: 'k', needs: 'keys:write' },
  { path: '/start', label: 'Start', letter: 'b', needs: 'any' },
  { path: '/operator', label: 'Overview', letter: 'o', needs: 'operator' },
  { path: '/operator/accounts', label: 'Accounts', letter: 'a', needs: 'operator' },
  { path: '/operator/jobs', label: 'All jobs', letter: 'q', needs: 'operator' },
  { path: '/operator/webhooks', label: 'All webhooks', letter: 'x', needs: 'operator' },
  { path: '/operator/models', label: 'Models', letter: 'm', needs: 'operator' },
  { path: '/operator/settings', label: 'Settings', letter: 'c', needs: 'operator' },
  { path: '/operator/audit', label: 'Audit log', letter: 'l', needs: 'operator' },
];

/**
 * The entries that the signed-in user may open.
 * @param scopes  of the session; null while they are unknown: then all
 */
export function permittedEntries({ account, admin }: Session, scopes: readonly Scope[] | null): NavigationEntry[] {
  return NAVIGATION.filter(({ needs }) => {
    if (needs === 'operator') return admin !== null;
    return account !== null && (needs === 'any' || scopes === null || scopes.includes(needs));
  });
}
