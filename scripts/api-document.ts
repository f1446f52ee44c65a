import { operatorRoutes, serviceRoutes } from '../src/http/service/service-routes.ts';
import { VERSION } from '../src/platform/installation.ts';
import { writeJson } from '../src/platform/json.ts';
import { type ApiRuntime, adminApiRoutes, apiRoutes } from '../src/processes/roles/api-routes.ts';
import { alertPayloads, eventPayloads } from '../src/webhooks/event-payloads.ts';

export type ApiDocument = Record<string, unknown> & {
  components: { schemas: Record<string, object> };
  /** Operations by method, by path. */
  paths: Record<string, Record<string, object>>;
};

/** The OpenAPI document of a node with all roles, made without starting a node. */
export async function apiDocument(): Promise<ApiDocument> {
  const readiness = { check: async () => ({ ready: true, reasons: [], details: [] }) };
  const metricsText = async () => ({ contentType: 'text/plain', text: '' });
  // Describing a route calls none of its dependencies.
  const runtime = { config: {} } as ApiRuntime;
  const routes = serviceRoutes({
    documented: [...apiRoutes(runtime), ...adminApiRoutes(runtime), ...operatorRoutes(readiness, metricsText)],
    events: [...eventPayloads, ...alertPayloads],
    version: VERSION,
    readiness,
  });
  const route = routes.find(({ path }) => path === '/openapi.json')!;
  const { body } = await route.handle({} as never);
  return JSON.parse(writeJson(body)) as ApiDocument;
}
