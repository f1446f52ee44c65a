import { type AdminDeps, adminRoutes } from '../../accounts/api/admin-routes.ts';
import { type KeyDeps, keyRoutes } from '../../accounts/api/key-routes.ts';
import { portalRoutes } from '../../accounts/api/portal-routes.ts';
import { type AccountDeps, accountRoutes } from '../../accounts/api/routes.ts';
import { sessionRoutes } from '../../accounts/api/session-routes.ts';
import { auditRoutes } from '../../audit/routes.ts';
import type { Route } from '../../http/route.ts';
import { type JobRoutesDeps, jobRoutes, openUploadLimits } from '../../jobs/api/routes.ts';
import { editRoutes } from '../../jobs/edits/routes.ts';
import { openAiRoutes } from '../../jobs/openai/routes.ts';
import { type SearchDeps, searchRoute } from '../../jobs/search/search-routes.ts';
import { type StoredAudioDeps, storedAudioRoutes } from '../../jobs/stored-audio/routes.ts';
import { adminUsageRoute, type UsageDeps, usageRoute } from '../../jobs/usage/usage-routes.ts';
import { type AccountStateDeps, accountStateRoutes } from '../../operator/account-routes.ts';
import { type OverviewDeps, overviewRoutes } from '../../operator/routes.ts';
import { type StreamRoutesDeps, streamRoutes } from '../../stream/routes.ts';
import { type WebhookDeps, webhookRoutes } from '../../webhooks/endpoints/routes.ts';
import { eventTypeRoutes } from '../../webhooks/event-type-routes.ts';
import { eventRoutes } from '../../webhooks/events/routes.ts';
import { type DiagnoseDeps, diagnose } from '../../webhooks/log/diagnose-route.ts';
import { type MetricsDeps, webhookMetrics } from '../../webhooks/log/metrics-route.ts';
import { deliveryRoutes } from '../../webhooks/log/routes.ts';
import { type SealedDeps, sealedRoutes } from '../../webhooks/secrets/sealed-api.ts';
import { type TestDeps, webhookTestRoutes } from '../../webhooks/test-routes.ts';

export type ApiDeps = JobRoutesDeps &
  SearchDeps &
  WebhookDeps &
  TestDeps &
  MetricsDeps &
  DiagnoseDeps &
  AccountDeps &
  KeyDeps &
  Omit<StoredAudioDeps, 'uploads'> &
  StreamRoutesDeps;

/** Every route that an account's keys may call. */
export function apiRoutes(deps: ApiDeps): Route[] {
  const jobDeps = { ...deps, ...openUploadLimits(deps) };
  return [
    ...jobRoutes(jobDeps),
    ...openAiRoutes(jobDeps),
    searchRoute(deps),
    ...editRoutes(deps),
    ...storedAudioRoutes(jobDeps),
    ...streamRoutes(deps),
    ...accountRoutes(deps),
    usageRoute(deps),
    ...keyRoutes(deps),
    ...sessionRoutes(deps),
    ...webhookRoutes(deps),
    ...webhookTestRoutes(deps),
    ...deliveryRoutes(deps),
    webhookMetrics(deps),
    diagnose(deps),
    ...eventRoutes(deps),
    ...eventTypeRoutes(),
  ];
}

/** Every route under /admin/v1. */
export function adminApiRoutes(deps: AdminDeps & AccountStateDeps & UsageDeps & SealedDeps & OverviewDeps): Route[] {
  return [
    ...adminRoutes(deps),
    ...accountStateRoutes(deps),
    ...portalRoutes(deps),
    adminUsageRoute(deps),
    ...overviewRoutes(deps),
    ...auditRoutes(deps),
    ...sealedRoutes(deps),
  ];
}
