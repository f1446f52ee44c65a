import { ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { systemClock, waitAtMost } from '../clock.ts';
import { VERSION } from '../installation.ts';
import type { Tracer } from './tracer.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const CLOSE_WAIT_MS = 2_000;

/**
 * A tracer by OpenTelemetry's library, which reads the other variables of OpenTelemetry itself: OTEL_SERVICE_NAME,
 * OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and more.
 * @param endpoint  base URL of a collector. The operator chose it, as a speech server's, so that no rules for the URLs
 *                  of strangers apply
 */
export function openOtlpTracer(endpoint: string): Tracer {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const named = resourceFromAttributes({ 'service.name': 'verbatim', 'service.version': VERSION });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('verbatim', VERSION);
  return {
    start(name, { kind, parent, attributes = {} }) {
      const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
      return {
        traceparent: traceparentOf(span.spanContext()),
        end(more = {}, error = null) {
          span.setAttributes(more);
          if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
          span.end();
        },
      };
    },
    // A collector that does not answer must not delay the end of the process.
    close: () =>
      waitAtMost(
        systemClock,
        provider.shutdown().catch(() => undefined),
        CLOSE_WAIT_MS,
      ).then(() => undefined),
  };
}

function contextOf(traceparent: string): SpanContext {
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
