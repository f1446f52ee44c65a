import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openMetrics, snapshotMetrics } from '../../src/platform/metrics.ts';
import { ROOT } from './sources.ts';

const FILES = ['ops/alerts.yml', 'ops/grafana-dashboard.json', 'docs/monitoring.md'];

const text = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const metrics = (await snapshotMetrics(openMetrics())).filter(({ name }) => name.startsWith('verbatim_'));

/** The names of all series of this service in Prometheus. */
function seriesNames(): Set<string> {
  const parts = (type: string) => (type === 'histogram' ? ['', '_bucket', '_sum', '_count'] : ['']);
  return new Set(metrics.flatMap(({ name, type }) => parts(String(type)).map((part) => name + part)));
}

for (const file of FILES) {
  test(`every metric that ${file} names exists`, () => {
    const known = seriesNames();
    const named = text(file).match(/\bverbatim_[a-z_]+\b/g) ?? [];

    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });
}

test('every metric of the service is on the dashboard', () => {
  const dashboard = text('ops/grafana-dashboard.json');

  assert.deepEqual(
    metrics.map(({ name }) => name).filter((name) => !dashboard.includes(name)),
    [],
  );
});
