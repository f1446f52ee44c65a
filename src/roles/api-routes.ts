import type { AdminDeps } from '../accounts/admin-api.ts';
import { adminRoutes } from '../accounts/admin-api.ts';
import type { AccountDeps } from '../accounts/api.ts';
import { accountRoutes } from '../accounts/api.ts';
import { keyRoutes } from '../accounts/keys-api.ts';
import { auditRoutes } from '../audit/api.ts';
import { deliveryRoutes } from '../deliveries/api.ts';
import { eventRoutes } from '../events/api.ts';
import type { Route } from '../http/route.ts';
import type { JobRoutesDeps } from '../jobs/api.ts';
import { jobRoutes } from '../jobs/api.ts';
import type { WebhookDeps } from '../webhooks/api.ts';
import { webhookRoutes } from '../webhooks/api.ts';
import type { SealedDeps } from '../webhooks/sealed-api.ts';
import { sealedRoutes } from '../webhooks/sealed-api.ts';

export type ApiDeps = JobRoutesDeps & WebhookDeps & AccountDeps;

/** Every route that an account's keys may call. */
export function apiRoutes(deps: ApiDeps): Route[] {
  return [
    ...jobRoutes(deps),
    ...accountRoutes(deps),
    ...keyRoutes(deps),
    ...webhookRoutes(deps),
    ...deliveryRoutes(deps),
    ...eventRoutes(deps),
  ];
}

/** Every route under /admin/v1. */
export function adminApiRoutes(deps: AdminDeps & SealedDeps): Route[] {
  return [...adminRoutes(deps), ...auditRoutes(deps), ...sealedRoutes(deps)];
}
