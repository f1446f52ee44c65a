import { NO_TRACER, type Tracer } from './tracer.ts';

/**
 * A tracer that sends spans by OTLP to an endpoint; without one, NO_TRACER. OpenTelemetry's library, 4 MB of memory, is
 * loaded only with an endpoint.
 */
export async function openTracer(endpoint: string | null): Promise<Tracer> {
  if (endpoint === null) return NO_TRACER;
  const { openOtlpTracer } = await import('./otlp-tracer.ts');
  return openOtlpTracer(endpoint);
}
