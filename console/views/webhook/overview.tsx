import { useQuery } from '@tanstack/react-query';
import { Suspense, useMemo } from 'react';
import type { OwnAccount, Webhook, WebhookMetrics } from '#sdk/api.ts';
import { useAccount } from '../../api/queries.ts';
import { FilterSelect, Filters, useFilters } from '../../app/filters.tsx';
import { TimeChart } from '../../charts/lazy-time-chart.ts';
import { reasonTitle } from '../../deliveries/failure-advice.ts';
import { percent, SPANS, type Span, totalsOf } from '../../deliveries/metrics.ts';
import { durationSeries, outcomeSeries, reasonSeries } from '../../deliveries/series.ts';
import { webhookMetricsQuery } from '../../deliveries/webhook-metrics.ts';
import { milliseconds } from '../../text/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Empty, Loading, Query } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { streakOf, streakText } from './streak.ts';

const SPAN_CHOICES = Object.entries(SPANS).map(([name, { label }]) => [name, label] as const);
const REFRESH_MS = 30_000;

/** How the webhook does: its state, its streak of failures, and charts of its attempts. */
export function Overview({ webhook }: { webhook: Webhook }) {
  const [filters] = useFilters();
  const span: Span = filters['span'] && filters['span'] in SPANS ? (filters['span'] as Span) : '24h';
  const { data: account } = useAccount();
  const metrics = useQuery({
    ...webhookMetricsQuery(webhook.id, span),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <StateFacts webhook={webhook} />
      {account && <StreakBar webhook={webhook} deliveries={account.deliveries} />}
      <Filters>
        <FilterSelect
          name="span"
          label="Time"
          values={SPAN_CHOICES.filter(([name]) => name !== '24h')}
          all="24 hours"
        />
      </Filters>
      <Query of={metrics}>{(found) => <Charts metrics={found} />}</Query>
    </>
  );
}

function StateFacts({ webhook }: { webhook: Webhook }) {
  return (
    <Section>
      <Facts
        rows={[
          ['State', <Badge key="state">{webhook.active ? 'active' : 'disabled'}</Badge>],
          ['Disabled', webhook.disabled_at && <Time at={webhook.disabled_at} />],
          ['Why', webhook.disabled_reason === 'consecutive_failures' && 'too many failures in a row'],
          ['Events', webhook.events.join(', ')],
          ['Attempts per second', webhook.max_per_second ?? 'no limit'],
          ['Created', <Time key="created" at={webhook.created_at} />],
          ['Changed', <Time key="changed" at={webhook.updated_at} />],
        ]}
      />
      {webhook.disabled_reason === 'consecutive_failures' && (
        <p className="notice problem">
          Deliveries are stopped. Repair the receiver, enable the webhook, then recover the events since{' '}
          <Time at={webhook.failing_since ?? webhook.disabled_at} exact />:{' '}
          <a href={`#/webhooks/${webhook.id}?tab=recover`}>Recover</a>
        </p>
      )}
    </Section>
  );
}

function StreakBar({ webhook, deliveries }: { webhook: Webhook; deliveries: OwnAccount['deliveries'] }) {
  const streak = streakOf(webhook, deliveries, Date.now());
  if (!streak) return null;
  const iso = (ms: number) => new Date(ms).toISOString();
  return (
    <section className="notice streak" aria-label="Failures in a row">
      <p>
        <strong>{streakText(streak)}</strong>, since <Time at={iso(streak.failingSinceMs)} exact />. The webhook is
        disabled at <Time at={iso(streak.disabledFromMs)} exact /> at the earliest; one success ends the streak.{' '}
        <a href={`#/webhooks/${webhook.id}?tab=log&status=failed`}>See why</a>
      </p>
      <meter min={0} max={1} low={0.5} high={0.9} optimum={0} value={streak.share} aria-label="Share of the limit">
        {percent(streak.share)}
      </meter>
    </section>
  );
}

function Charts({ metrics }: { metrics: WebhookMetrics }) {
  const totals = useMemo(() => totalsOf(metrics.data), [metrics]);
  const outcomes = useMemo(() => outcomeSeries(metrics.data), [metrics]);
  const reasons = useMemo(() => reasonSeries(metrics.data, (reason) => reasonTitle(reason as never)), [metrics]);
  const durations = useMemo(() => durationSeries(metrics.data), [metrics]);
  const waiting = metrics.data.at(-1)?.waiting ?? 0;
  // A line needs two points.
  const timed = metrics.data.filter(({ p50_ms }) => p50_ms !== null).length;
  return (
    <>
      <Section>
        <Facts
          rows={[
            ['Attempts', totals.attempts],
            ['Succeeded', percent(totals.successRate)],
            ['Failed', totals.failed],
            ['Dropped', totals.dropped],
            [`Duration, p95 of the slowest ${metrics.bucket}`, milliseconds(totals.highestP95Ms)],
            ['Waiting now', waiting],
          ]}
        />
        {metrics.truncated && (
          <p className="hint">There are too many attempts to count: the figures leave out the oldest.</p>
        )}
      </Section>
      {totals.attempts === 0 ? (
        <Empty title="No attempts in this period" />
      ) : (
        <Suspense fallback={<Loading />}>
          <div className="charts">
            <TimeChart label="Attempts by outcome" series={outcomes} look="bars" tones={['good', 'bad', 'neutral']} />
            {reasons.names.length > 0 && (
              <TimeChart label="Failures by reason" series={reasons} look="bars" tones={['1', '2', '3', '4', '5']} />
            )}
            {timed > 1 && (
              <TimeChart label="Duration" series={durations} look="lines" tones={['1', '2']} format={milliseconds} />
            )}
          </div>
        </Suspense>
      )}
    </>
  );
}
