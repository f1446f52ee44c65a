import { RawJson, writeJson } from '../../platform/json.ts';
import { unavailable } from '../api-error.ts';
import { describeApi, type EventPayload } from '../openapi/openapi.ts';
import { defineRoute, type Route } from '../route.ts';
import { Type } from '../schema.ts';
import { referenceRoutes } from './reference.ts';

/**
 * Whether the node can do the work of all its roles. The reasons are sentences that anybody may read; the details, such
 * as addresses and paths, are for operators only.
 */
export type NodeReadiness = { ready: boolean; reasons: string[]; details: string[] };
export type Readiness = { check(): Promise<NodeReadiness> };

type ServiceOptions = {
  readiness: Readiness;
  /** The other routes of this node, for /openapi.json and /docs. */
  documented: Route[];
  /** Origins whose pages may show /docs in a frame. */
  framedBy?: readonly string[];
  /** The webhook requests, for /openapi.json and /docs. */
  events?: EventPayload[];
  version: string;
};

const TAG = 'Service';
const NOT_READY_RETRY_SECONDS = 2;

/** The metrics of all processes of the node. */
type MetricsText = () => Promise<{ contentType: string; text: string }>;

/** Health and the API reference: served by every node on each of its listeners, whatever its roles. */
export function serviceRoutes(options: ServiceOptions): Route[] {
  const routes = [healthRoute(), readyRoute(options.readiness)];
  const { documented, events = [], version } = options;
  const describe = () => describeApi([...documented, ...routes], { version, events });
  return [
    ...routes,
    openApiRoute(describe),
    ...referenceRoutes({ describe, version, framedBy: options.framedBy ?? [] }),
  ];
}

/** Metrics and readiness for operators: served by every node on the listener of /admin, whatever its roles. */
export function operatorRoutes(readiness: Readiness, metricsText: MetricsText): Route[] {
  return [metricsRoute(metricsText), readinessRoute(readiness)];
}

function healthRoute(): Route {
  return defineRoute({
    ...common('/healthz', 'The process is running'),
    schema: { answers: { 200: Type.Object({ status: Type.Literal('ok') }) } },
    handle: async () => ({ status: 200, body: { status: 'ok' } }),
  });
}

function readyRoute(readiness: Readiness): Route {
  return defineRoute({
    ...common('/readyz', 'The node can do its work; 503 with the reasons while it cannot'),
    schema: {
      answers: {
        200: Type.Object({ status: Type.Literal('ready'), reasons: Type.Array(Type.String(), { maxItems: 0 }) }),
      },
    },
    errors: ['unavailable'],
    async handle() {
      const { ready, reasons } = await readiness.check();
      if (ready) return { status: 200, body: { status: 'ready', reasons: [] as string[] } };
      const extra = { status: 'not_ready', reasons };
      throw unavailable(`Not ready: ${reasons.join(' ')}`, NOT_READY_RETRY_SECONDS, { extra });
    },
  });
}

function readinessRoute(readiness: Readiness): Route {
  return defineRoute({
    ...common('/admin/v1/readiness', 'Why the node is not ready, with the details that /readyz leaves out'),
    auth: 'admin',
    schema: {
      answers: {
        200: Type.Object({
          ready: Type.Boolean(),
          reasons: Type.Array(Type.String()),
          details: Type.Array(Type.String()),
        }),
      },
    },
    handle: async () => ({ status: 200, body: await readiness.check() }),
  });
}

function metricsRoute(metricsText: MetricsText): Route {
  return defineRoute({
    ...common('/metrics', 'Metrics in the Prometheus text format'),
    schema: { answers: { 200: { media: { 'text/plain': Type.String() } } } },
    async handle() {
      const { contentType, text } = await metricsText();
      return { status: 200, body: text, contentType };
    },
  });
}

function openApiRoute(describe: () => Record<string, unknown>): Route {
  // Written once, because the route has no rate limit, and at the first request, because it takes a tenth of the start.
  let written: RawJson | null = null;
  return defineRoute({
    ...common('/openapi.json', 'This API as OpenAPI 3.1'),
    schema: { answers: { 200: Type.Unknown() } },
    handle: async () => ({ status: 200, body: (written ??= new RawJson(writeJson(describe()))) }),
  });
}

function common(path: string, summary: string) {
  return { method: 'GET', path, auth: 'none', summary, tag: TAG } as const;
}
