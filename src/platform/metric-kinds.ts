import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

type Labels = Record<string, string | number>;
type Kind = 'counter' | 'gauge' | 'histogram';
type Common = { name: string; help: string; labelNames?: string[]; aggregator?: 'sum' | 'max' };

/** What a metric has come to, in the form that prom-client adds up and writes out. */
export type MetricSnapshot = MetricObjectWithValues<MetricValueWithName<string>>;
/** Anything that counts; each is made by one of the functions below. */
export type Metric = { name: string; type: Kind; snapshot(): MetricSnapshot };
export type Counter = Metric & { inc(labels?: Labels, by?: number): void };
export type Gauge = Metric & { set(value: number): void };
export type LabelledGauge = Metric & { set(labels: Labels, value: number): void };
export type Histogram = Metric & { observe(...observed: [value: number] | [labels: Labels, value: number]): void };

/** A number that only grows, one for each combination of labels; without labels it is there from the start, at 0. */
export function counter(options: Common): Counter {
  const rows = openRows(options, () => ({ value: 0 }));
  return {
    ...metric('counter', options, () => rows.all().map(({ labels, value }) => ({ labels, value }))),
    inc(labels = {}, by = 1) {
      rows.of(labels).value += by;
    },
  };
}

/** A number that goes up and down. */
export function gauge(options: Common): Gauge {
  let current = 0;
  return {
    ...metric('gauge', options, () => [{ labels: {}, value: current }]),
    set(value) {
      current = value;
    },
  };
}

/** A gauge for each combination of labels; absent until it is set. */
export function labelledGauge(options: Common): LabelledGauge {
  const rows = openRows(options, () => ({ value: 0 }));
  return {
    ...metric('gauge', options, () => rows.all().map(({ labels, value }) => ({ labels, value }))),
    set(labels, value) {
      rows.of(labels).value = value;
    },
  };
}

/** How many values lie at or below each of `buckets`, for each combination of labels. */
export function histogram({ buckets, ...options }: Common & { buckets: number[] }): Histogram {
  const rows = openRows(options, () => ({ counts: buckets.map(() => 0), sum: 0, count: 0 }));
  const { name } = options;
  return {
    ...metric('histogram', options, () =>
      rows
        .all()
        .flatMap(({ labels, counts, sum, count }) => [
          ...buckets.map((le, at) => ({ labels: { le, ...labels }, value: counts[at]!, metricName: `${name}_bucket` })),
          { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
          { labels, value: sum, metricName: `${name}_sum` },
          { labels, value: count, metricName: `${name}_count` },
        ]),
    ),
    observe(...observed) {
      const [labels, value] = observed.length === 1 ? [{}, observed[0]] : observed;
      const row = rows.of(labels);
      for (let at = buckets.length - 1; at >= 0 && value <= buckets[at]!; at -= 1) row.counts[at]! += 1;
      row.sum += value;
      row.count += 1;
    },
  };
}

type Value = { labels: Labels; value: number; metricName?: string };

function metric(type: Kind, { name, help, aggregator = 'sum' }: Common, values: () => Value[]): Metric {
  return {
    ...{ name, type },
    // prom-client declares its kinds as numbers and passes them as these words.
    snapshot: () => ({ name, help, type, aggregator, values: values() }) as unknown as MetricSnapshot,
  };
}

/** One row for each combination of labels; callers label with what is bounded (routes, states), never with what is sent. */
function openRows<Row extends object>({ labelNames = [] }: Common, empty: () => Row) {
  const rows = new Map<string, Row & { labels: Labels }>();
  function of(labels: Labels): Row {
    const key = labelNames.map((name) => labels[name]).join('\0');
    let row = rows.get(key);
    if (!row) rows.set(key, (row = { ...empty(), labels }));
    return row;
  }
  if (labelNames.length === 0) of({});
  return { of, all: () => [...rows.values()] };
}
