import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { type ComponentType, lazy } from 'react';
import { session } from '../session/session.ts';
import { Problem } from '../ui/state.tsx';
import { Layout } from './layout.tsx';
import { NotFound } from './not-found.tsx';

// Every view and its address. The part of the address after # is never sent to a server. A view reads its parameters
// with useParams({ strict: false }) and its filters with useFilters (filters.tsx).

type LoadView = () => Promise<{ default: ComponentType }>;

const PANEL_VIEWS = {
  job: lazy(() => import('../views/job/index.tsx')),
  attempt: lazy(() => import('../views/attempt/index.tsx')),
  webhook: lazy(() => import('../views/webhook/index.tsx')),
  event: lazy(() => import('../views/event/index.tsx')),
};

const root = createRootRoute({
  component: () => <Layout panelViews={PANEL_VIEWS} />,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
  // Filters are texts; each view gives them to the API, which checks them.
  validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
});

const view = <const Path extends string>(path: Path, load: LoadView) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad() {
    const { account, admin } = session.get();
    if (account === null && admin !== null) throw redirect({ to: '/operator' });
  },
  component: lazyRouteComponent((() => import('../views/home/index.tsx')) as LoadView),
});

const routeTree = root.addChildren([
  home,
  view('/sign-in', () => import('../views/sign-in/index.tsx')),
  view('/transcribe', () => import('../views/transcribe/index.tsx')),
  view('/live', () => import('../views/live/index.tsx')),
  view('/jobs', () => import('../views/jobs/index.tsx')),
  view('/jobs/$jobId', () => import('../views/job/index.tsx')),
  view('/search', () => import('../views/search/index.tsx')),
  view('/webhooks', () => import('../views/webhooks/index.tsx')),
  view('/webhooks/$webhookId', () => import('../views/webhook/index.tsx')),
  view('/webhooks/$webhookId/deliveries/$deliveryId', () => import('../views/attempt/index.tsx')),
  view('/deliveries', () => import('../views/deliveries/index.tsx')),
  view('/events', () => import('../views/events/index.tsx')),
  view('/events/$eventId', () => import('../views/event/index.tsx')),
  view('/debugger', () => import('../views/debugger/index.tsx')),
  view('/usage', () => import('../views/usage/index.tsx')),
  view('/people', () => import('../views/people/index.tsx')),
  view('/keys', () => import('../views/keys/index.tsx')),
  view('/start', () => import('../views/start/index.tsx')),
  view('/operator', () => import('../views/operator/index.tsx')),
  view('/operator/accounts', () => import('../views/operator-accounts/index.tsx')),
  view('/operator/accounts/$accountId', () => import('../views/operator-account/index.tsx')),
  view('/operator/jobs', () => import('../views/operator-jobs/index.tsx')),
  view('/operator/webhooks', () => import('../views/operator-webhooks/index.tsx')),
  view('/operator/models', () => import('../views/operator-models/index.tsx')),
  view('/operator/settings', () => import('../views/operator-settings/index.tsx')),
  view('/operator/audit', () => import('../views/operator-audit/index.tsx')),
]);

/** Creates the router; after `openPortalLink`, which may replace the address. */
export function openRouter() {
  return createRouter({
    routeTree,
    history: createHashHistory(),
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch(search) {
      const text = new URLSearchParams(search as Record<string, string>).toString();
      return text === '' ? '' : `?${text}`;
    },
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>;
  }
}
