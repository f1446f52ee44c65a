import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openMetrics } from '../../src/platform/metrics.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILES = ['ops/alerts.yml', 'ops/grafana-dashboard.json', 'docs/operations.md'];

const text = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Every name under which Prometheus keeps one of our metrics. */
function seriesNames(): Set<string> {
  const metrics = Object.values(openMetrics());
  const parts = (type: string) => (type === 'histogram' ? ['', '_bucket', '_sum', '_count'] : ['']);
  return new Set(metrics.flatMap(({ name, type }) => parts(type).map((part) => name + part)));
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

test('every metric of ours is on the dashboard', async () => {
  const dashboard = text('ops/grafana-dashboard.json');
  const metrics = Object.values(openMetrics());

  assert.deepEqual(
    metrics.map(({ name }) => name).filter((name) => !dashboard.includes(name)),
    [],
  );
});
