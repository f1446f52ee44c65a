import { useQuery } from '@tanstack/react-query';
import { Suspense, useMemo } from 'react';
import type { Key, Usage, UsageRow } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useAccount } from '../../api/queries.ts';
import { FilterSelect, Filters, useFilters } from '../../app/filters.tsx';
import { TimeChart } from '../../charts/lazy-time-chart.ts';
import type { ChartTone } from '../../charts/time-chart.tsx';
import { preferences } from '../../session/preferences.ts';
import { useStore } from '../../session/store.ts';
import { clockTime } from '../../text/format.ts';
import { saveFile } from '../../text/save-file.ts';
import { calendarDate, calendarHead, exactTime } from '../../text/times.ts';
import { Button } from '../../ui/button.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Credits } from '../../ui/credits.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Empty, Loading, Query } from '../../ui/state.tsx';
import { Table } from '../../ui/table/table.tsx';
import { csvOf } from './csv.ts';
import { MEASURES, type Measure, usageSeries } from './usage-series.ts';

type Bucket = Usage['bucket'];

const DAY_MS = 86_400_000;
/** The times that each bucket is offered for, in days; the first is the default. */
const SPANS: Record<Bucket, readonly number[]> = { day: [30, 7, 90, 366], hour: [2, 1, 7], month: [366, 1830] };
const GROUPS = ['plan', 'model', 'key'] as const;
const TONES: readonly ChartTone[] = ['1', '2', '3', '4', '5'];

export function UsageOverTime() {
  const [filters] = useFilters();
  const bucket = (filters['bucket'] ?? 'day') as Bucket;
  const spans = SPANS[bucket] ?? SPANS.day;
  const days = spans.find((span) => String(span) === filters['days']) ?? spans[0]!;
  const group = (filters['group_by'] ?? 'plan') as (typeof GROUPS)[number];
  const usage = useQuery({
    queryKey: ['usage', bucket, group, days],
    queryFn: ({ signal }) => api.usage({ bucket, group_by: group, from: daysAgo(days) }, { signal }),
  });
  return (
    <>
      <Filters>
        <FilterSelect
          name="measure"
          label="Show"
          values={Object.entries(MEASURES)
            .slice(1)
            .map(([name, { label }]) => [name, label] as const)}
          all={MEASURES.minutes.label}
        />
        <FilterSelect name="bucket" label="By" values={['hour', 'month']} all="day" />
        <FilterSelect
          name="days"
          label="Time"
          values={spans.slice(1).map((span) => [String(span), spanLabel(span)] as const)}
          all={spanLabel(spans[0]!)}
        />
        <FilterSelect name="group_by" label="Split by" values={['model', 'key']} all="plan" />
        <AsCode
          request={{
            method: 'GET',
            path: '/v1/usage',
            query: { bucket, group_by: group, from: daysAgo(days) },
            sdk: 'client.usage',
          }}
        />
      </Filters>
      <Query of={usage}>
        {(value) => <UsageOf usage={value} measure={(filters['measure'] ?? 'minutes') as Measure} group={group} />}
      </Query>
    </>
  );
}

function UsageOf({ usage, measure, group }: { usage: Usage; measure: Measure; group: (typeof GROUPS)[number] }) {
  const keys = useKeys(group === 'key');
  const { utc } = useStore(preferences);
  const shown = MEASURES[measure] ?? MEASURES.minutes;
  const nameOf = useMemo(() => groupNames(group, keys), [group, keys]);
  const series = useMemo(() => usageSeries(usage, shown.figureOf, nameOf), [usage, shown, nameOf]);
  if (usage.data.length === 0) return <Empty title="No jobs ended in this period." command="transcribe call.mp3" />;
  const rows = usage.data.toReversed();
  // An hour begins at another time of day in each zone; a day and a month are of UTC everywhere.
  const unit = usage.bucket === 'hour' ? undefined : usage.bucket;
  const total = (value: (row: UsageRow) => number) => usage.data.reduce((sum, row) => sum + value(row), 0);
  return (
    <>
      <Section>
        <Facts
          rows={[
            ['Jobs', `${total(({ jobs }) => jobs)}, ${total(({ failed }) => failed)} failed`],
            ['Audio', clockTime(total((row) => row.audio_seconds))],
            ['Charged', clockTime(total((row) => row.billed_seconds))],
            ['Credits', <Credits key="credits" of={total(({ cost }) => cost)} />],
          ]}
        />
      </Section>
      <Suspense fallback={<Loading />}>
        <TimeChart
          label={`${shown.label} by ${usage.bucket}`}
          series={series}
          look="bars"
          tones={series.names.map((_, index) => TONES[index % TONES.length]!)}
          format={shown.format}
          unit={unit}
        />
      </Suspense>
      <Table
        label="Usage"
        rows={rows}
        keyOf={(row) => `${row.start} ${nameOf(row)}`}
        columns={[
          {
            head: unit ? calendarHead(unit) : 'From',
            cell: ({ start }) => (unit ? calendarDate(Date.parse(start), unit) : exactTime(start, utc)),
          },
          {
            head: group === 'key' ? 'Key' : group === 'model' ? 'Model' : 'Plan',
            cell: nameOf,
          },
          { head: 'Jobs', isNumber: true, cell: ({ jobs }) => jobs },
          { head: 'Failed', isNumber: true, cell: ({ failed }) => failed },
          { head: 'Canceled', isNumber: true, cell: ({ canceled }) => canceled },
          { head: 'Audio', isNumber: true, cell: (row) => clockTime(row.audio_seconds) },
          { head: 'Charged', isNumber: true, cell: (row) => clockTime(row.billed_seconds) },
          { head: 'Credits', isNumber: true, cell: ({ cost }) => <Credits of={cost} /> },
        ]}
      />
      <Button onClick={() => saveFile('usage.csv', usageCsv(rows, nameOf))}>Download as CSV</Button>
    </>
  );
}

/** The names of the account's keys, where the own key may read them. */
function useKeys(isWanted: boolean): readonly Key[] | undefined {
  const mayRead = useAccount().data?.scopes.includes('keys:write') ?? false;
  const { data } = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: ({ signal }) => api.keys.list({ limit: 100 }, { signal }).toArray({ limit: 200 }),
    enabled: isWanted && mayRead,
  });
  return data;
}

function groupNames(group: (typeof GROUPS)[number], keys: readonly Key[] | undefined) {
  return (row: UsageRow): string => {
    if (group === 'plan') return row.plan ?? 'none';
    if (group === 'model') return row.model ?? 'none';
    const key = keys?.find(({ id }) => id === row.key_id);
    return key?.name ?? (key ? `${key.prefix}…` : (row.key_id ?? 'none'));
  };
}

function usageCsv(rows: readonly UsageRow[], nameOf: (row: UsageRow) => string): string {
  const heads = ['start', 'end', 'group', 'jobs', 'failed', 'canceled', 'audio_seconds', 'billed_seconds', 'cost'];
  const cells = rows.map((row) => [
    ...[row.start, row.end, nameOf(row), row.jobs, row.failed, row.canceled],
    ...[row.audio_seconds, row.billed_seconds, row.cost],
  ]);
  return csvOf([heads, ...cells]);
}

/** Midnight in UTC, so that the same request is made all day. */
function daysAgo(days: number): string {
  return new Date(Math.floor((Date.now() - days * DAY_MS) / DAY_MS) * DAY_MS).toISOString();
}

function spanLabel(days: number): string {
  if (days === 1) return '1 day';
  if (days === 366) return '1 year';
  return days > 366 ? `${Math.round(days / 366)} years` : `${days} days`;
}
