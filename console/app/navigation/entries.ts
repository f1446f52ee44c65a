import {
  Activity,
  AudioLines,
  Boxes,
  Bug,
  Building2,
  ChartColumn,
  House,
  KeyRound,
  ListChecks,
  type LucideIcon,
  Mic,
  Rocket,
  ScrollText,
  Search,
  Send,
  SlidersHorizontal,
  Users,
  Webhook,
  Zap,
} from 'lucide-react';
import type { OwnAccount } from '#sdk/wire.ts';
import { hasUser, type Session } from '../../session/session.ts';

export type Scope = OwnAccount['scopes'][number];

export type NavigationGroup = 'Work' | 'Webhooks' | 'Account' | 'Operator';

/** An entry of the navigation, of the palette and of the keys that follow g. */
export type NavigationEntry = {
  path: string;
  label: string;
  icon: LucideIcon;
  group: NavigationGroup;
  /** Pressed after g. */
  letter: string;
  /** Who may open it: a key or user with this scope (`any`: each of them), a user, or the operator. */
  needs: Scope | 'any' | 'user' | 'operator';
};

type Row = [path: string, label: string, icon: LucideIcon, letter: string, needs: NavigationEntry['needs']];

const GROUPS: readonly [NavigationGroup, readonly Row[]][] = [
  [
    'Work',
    [
      ['/', 'Home', House, 'h', 'any'],
      ['/transcribe', 'Transcribe', AudioLines, 't', 'jobs:write'],
      ['/live', 'Live', Mic, 'v', 'jobs:write'],
      ['/jobs', 'Jobs', ListChecks, 'j', 'jobs:read'],
      ['/search', 'Search', Search, 'f', 'jobs:read'],
    ],
  ],
  [
    'Webhooks',
    [
      ['/webhooks', 'Webhooks', Webhook, 'w', 'webhooks:read'],
      ['/deliveries', 'Deliveries', Send, 'd', 'webhooks:read'],
      ['/events', 'Events', Zap, 'e', 'webhooks:read'],
      ['/debugger', 'Signature debugger', Bug, 's', 'any'],
    ],
  ],
  [
    'Account',
    [
      ['/usage', 'Usage', ChartColumn, 'u', 'usage:read'],
      ['/people', 'People', Users, 'p', 'user'],
      ['/keys', 'Keys', KeyRound, 'k', 'keys:write'],
      ['/start', 'Start', Rocket, 'b', 'any'],
    ],
  ],
  [
    'Operator',
    [
      ['/operator', 'Overview', Activity, 'o', 'operator'],
      ['/operator/accounts', 'Accounts', Building2, 'a', 'operator'],
      ['/operator/jobs', 'All jobs', ListChecks, 'q', 'operator'],
      ['/operator/webhooks', 'All webhooks', Webhook, 'x', 'operator'],
      ['/operator/models', 'Models', Boxes, 'm', 'operator'],
      ['/operator/settings', 'Settings', SlidersHorizontal, 'c', 'operator'],
      ['/operator/audit', 'Audit log', ScrollText, 'l', 'operator'],
    ],
  ],
];

const NAVIGATION: readonly NavigationEntry[] = GROUPS.flatMap(([group, rows]) =>
  rows.map(([path, label, icon, letter, needs]) => ({ path, label, icon, group, letter, needs })),
);

/**
 * The entries that the signed-in user may open.
 * @param scopes  of the session
 */
export function permittedEntries(session: Session, scopes: readonly Scope[]): NavigationEntry[] {
  const { account, admin } = session;
  return NAVIGATION.filter(({ needs }) => {
    if (needs === 'operator') return admin !== null;
    if (needs === 'user') return hasUser(session);
    return account !== null && (needs === 'any' || scopes.includes(needs));
  });
}

/**
 * The entry of a page of the account that the session may not use; undefined where it may, or the page has no entry.
 * @param scopes  of the session
 */
export function refusedEntry(path: string, session: Session, scopes: readonly Scope[]): NavigationEntry | undefined {
  const entry = NAVIGATION.find((other) => other.path === path && other.needs !== 'operator');
  return entry && !permittedEntries(session, scopes).includes(entry) ? entry : undefined;
}
