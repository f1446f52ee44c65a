import { adminRoutes } from '../../accounts/api/admin-routes.ts';
import { keyRoutes } from '../../accounts/api/key-routes.ts';
import { portalRoutes } from '../../accounts/api/portal-routes.ts';
import { accountRoutes } from '../../accounts/api/routes.ts';
import { sessionRoutes } from '../../accounts/api/session-routes.ts';
import { findNamesOfActors } from '../../accounts/keys/key-store.ts';
import { adminInvitationRoute } from '../../accounts/people/api/invitation-routes.ts';
import { operatorUserRoutes } from '../../accounts/people/api/operator-routes.ts';
import { peopleRoutes } from '../../accounts/people/api/routes.ts';
import type { PeopleRuntime } from '../../accounts/people/people-runtime.ts';
import { auditRoutes } from '../../audit/routes.ts';
import type { Route } from '../../http/route.ts';
import { type JobsRuntime, openJobsApi } from '../../jobs/api/jobs-api.ts';
import { jobRoutes } from '../../jobs/api/routes.ts';
import { editRoutes } from '../../jobs/edits/routes.ts';
import { openAiRoutes } from '../../jobs/openai/routes.ts';
import { searchRoute } from '../../jobs/search/search-routes.ts';
import { openShareRoute } from '../../jobs/sharing/open-share-route.ts';
import { shareRoutes } from '../../jobs/sharing/share-routes.ts';
import type { AudioLinks } from '../../jobs/stored-audio/audio-link.ts';
import { storedAudioRoutes } from '../../jobs/stored-audio/routes.ts';
import { adminUsageRoute, usageRoute } from '../../jobs/usage/usage-routes.ts';
import type { RealtimeApi } from '../../live/openai/realtime-connection.ts';
import { realtimeRoutes } from '../../live/openai/routes.ts';
import { liveRoutes } from '../../live/routes.ts';
import { accountStateRoutes } from '../../operator/account-routes.ts';
import { recoveryRoutes } from '../../operator/recovery-routes.ts';
import { overviewRoutes } from '../../operator/routes.ts';
import type { StreamRuntime } from '../../stream/changes.ts';
import { streamRoutes } from '../../stream/routes.ts';
import { type WebhookRuntime, webhookRoutes } from '../../webhooks/endpoints/routes.ts';
import { eventTypeRoutes } from '../../webhooks/event-type-routes.ts';
import { eventRoutes } from '../../webhooks/events/routes.ts';
import { diagnose } from '../../webhooks/log/diagnose-route.ts';
import { webhookMetrics } from '../../webhooks/log/metrics-route.ts';
import { deliveryRoutes } from '../../webhooks/log/routes.ts';
import { sealedRoutes } from '../../webhooks/secrets/sealed-api.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import { webhookTestRoutes } from '../../webhooks/test-routes.ts';

/** What the endpoints of a node run on. */
export type ApiRuntime = JobsRuntime &
  WebhookRuntime &
  PeopleRuntime &
  StreamRuntime &
  RealtimeApi & { secretBox: SecretBox; audioLinks: AudioLinks };

/** Every route that an account's keys may call. */
export function apiRoutes(runtime: ApiRuntime): Route[] {
  const api = openJobsApi(runtime);
  return [
    ...jobRoutes(api),
    ...openAiRoutes(api),
    searchRoute(api),
    ...editRoutes(api),
    ...shareRoutes(api),
    openShareRoute(api),
    ...storedAudioRoutes(api),
    ...streamRoutes(api),
    ...liveRoutes(api),
    ...realtimeRoutes(api),
    ...accountRoutes(api),
    usageRoute(api),
    ...keyRoutes(api),
    ...sessionRoutes(api),
    ...peopleRoutes(api),
    ...webhookRoutes(api),
    ...webhookTestRoutes(api),
    ...deliveryRoutes(api),
    webhookMetrics(api),
    diagnose(api),
    ...eventRoutes(api),
    ...eventTypeRoutes(),
  ];
}

/** Every route under /admin/v1. */
export function adminApiRoutes(runtime: ApiRuntime): Route[] {
  return [
    ...adminRoutes(runtime),
    ...accountStateRoutes(runtime),
    ...portalRoutes(runtime),
    adminInvitationRoute(runtime),
    ...operatorUserRoutes(runtime),
    adminUsageRoute(runtime),
    ...overviewRoutes(runtime),
    ...recoveryRoutes(runtime),
    ...auditRoutes(runtime, findNamesOfActors),
    ...sealedRoutes(runtime),
  ];
}
