import type { ComponentType } from 'react';
import { lazyFrom, loadOnce } from '../router/lazy.tsx';

// Every view and its address. A view reads the parameters of its path with useViewParams() and its filters with
// useFilters() (filters.tsx).

type LoadView = () => Promise<{ default: ComponentType }>;

export type Route = {
  pattern: RegExp;
  View: ComponentType;
  /** Loads the view's code before the view is shown. */
  load: LoadView;
  /** Whether a list can show it beside itself. */
  isPanel: boolean;
  /** Whether it is for whoever has its address: it is shown without a sign-in. */
  isPublic: boolean;
};

function view(path: string, loadView: LoadView, { isPanel = false, isPublic = false } = {}): Route {
  const load = loadOnce(loadView);
  const pattern = new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
  return { pattern, View: lazyFrom(load, (loaded) => loaded.default), load, isPanel, isPublic };
}

const PANEL = { isPanel: true };
const ROUTES: readonly Route[] = [
  view('/', () => import('../views/home/index.tsx')),
  view('/sign-in', () => import('../views/sign-in/index.tsx')),
  view('/transcribe', () => import('../views/transcribe/index.tsx')),
  view('/live', () => import('../views/live/index.tsx')),
  view('/jobs', () => import('../views/jobs/index.tsx')),
  view('/jobs/:jobId', () => import('../views/job/index.tsx'), PANEL),
  view('/shared/:token', () => import('../views/share/index.tsx'), { isPublic: true }),
  view('/search', () => import('../views/search/index.tsx')),
  view('/webhooks', () => import('../views/webhooks/index.tsx')),
  view('/webhooks/:webhookId', () => import('../views/webhook/index.tsx'), PANEL),
  view('/webhooks/:webhookId/deliveries/:deliveryId', () => import('../views/attempt/index.tsx'), PANEL),
  view('/deliveries', () => import('../views/deliveries/index.tsx')),
  view('/events', () => import('../views/events/index.tsx')),
  view('/events/:eventId', () => import('../views/event/index.tsx'), PANEL),
  view('/debugger', () => import('../views/debugger/index.tsx')),
  view('/usage', () => import('../views/usage/index.tsx')),
  view('/people', () => import('../views/people/index.tsx')),
  view('/keys', () => import('../views/keys/index.tsx')),
  view('/start', () => import('../views/start/index.tsx')),
  view('/operator', () => import('../views/operator/index.tsx')),
  view('/operator/accounts', () => import('../views/operator-accounts/index.tsx')),
  view('/operator/accounts/:accountId', () => import('../views/operator-account/index.tsx')),
  view('/operator/jobs', () => import('../views/operator-jobs/index.tsx')),
  view('/operator/webhooks', () => import('../views/operator-webhooks/index.tsx')),
  view('/operator/models', () => import('../views/operator-models/index.tsx')),
  view('/operator/settings', () => import('../views/operator-settings/index.tsx')),
  view('/operator/audit', () => import('../views/operator-audit/index.tsx')),
];

/** The view at a path, and the path's parameters; null where there is none. */
export function routeAt(path: string): { route: Route; params: Record<string, string> } | null {
  for (const route of ROUTES) {
    const match = route.pattern.exec(path);
    if (match) return { route, params: decoded(match.groups ?? {}) };
  }
  return null;
}

/** Whether the view at a path is shown without a sign-in. */
export function isPublicPath(path: string): boolean {
  return routeAt(path)?.route.isPublic ?? false;
}

function decoded(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    // A percent sign that begins no character.
    return params;
  }
}
