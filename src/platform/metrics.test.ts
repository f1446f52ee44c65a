import assert from 'node:assert/strict';
import performanceHooks from 'node:perf_hooks';
import test from 'node:test';
import { mergeMetrics, openMetrics, snapshotMetrics } from './metrics.ts';

test('histograms of several processes are added up', async () => {
  const [one, two] = [openMetrics(), openMetrics()];
  one.attemptSeconds.observe(0.05);
  two.attemptSeconds.observe(0.0501);
  two.attemptSeconds.observe(7);

  const { text } = await mergeMetrics([await snapshotMetrics(one), await snapshotMetrics(two)]);

  assert.match(text, /# TYPE verbatim_attempt_duration_seconds histogram/);
  assert.match(text, /_attempt_duration_seconds_bucket\{le="0.025"\} 0\n/);
  assert.match(text, /_attempt_duration_seconds_bucket\{le="0.05"\} 1\n/);
  assert.match(text, /_attempt_duration_seconds_bucket\{le="0.1"\} 2\n/);
  assert.match(text, /_attempt_duration_seconds_bucket\{le="\+Inf"\} 3\n/);
  assert.match(text, /_attempt_duration_seconds_sum 7\.1\d*\n/);
  assert.match(text, /_attempt_duration_seconds_count 3\n/);
});

test('the metrics of the Node process are included', async () => {
  const { text } = await mergeMetrics([await snapshotMetrics(openMetrics())]);

  assert.match(text, /^process_resident_memory_bytes [1-9]/m);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
});

test('the event loop is sampled at most ten times a second: each sample wakes the process', (t) => {
  const monitor = t.mock.method(performanceHooks, 'monitorEventLoopDelay');

  openMetrics();

  const samples = monitor.mock.calls.map(({ arguments: [options] }) => options?.resolution ?? 0);
  assert.equal(samples.length, 1);
  assert.ok(samples[0]! >= 100, `every ${samples[0]} ms`);
});

test('no gauge has the ending of a counter', async () => {
  const metrics = await snapshotMetrics(openMetrics());

  assert.ok(metrics.length > 40);
  assert.deepEqual(
    metrics.filter(({ name, type }) => name.endsWith('_total') && String(type) !== 'counter').map(({ name }) => name),
    [],
  );
});
