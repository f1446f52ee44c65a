import { queryOptions } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { metricsQuery, type Span } from './metrics.ts';

/** Attempts and durations of a webhook in a span that ends at the request. */
export const webhookMetricsQuery = (id: string, span: Span) =>
  queryOptions({
    queryKey: ['webhook-metrics', id, span],
    queryFn: ({ signal }) => api.webhooks.metrics(id, metricsQuery(span, Date.now()), { signal }),
  });
