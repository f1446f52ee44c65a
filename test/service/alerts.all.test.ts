import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../../src/platform/installation.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { startOutside } from '../fixtures/database/outside-postgres.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const PROMTOOL = process.env['PROMTOOL'];
const skip = !PROMTOOL && 'PROMTOOL is not set';
const LABELS = 'job="any-name",instance="node"';
// Longer than any rule waits; samples come once a minute.
const MINUTES = 40;

/** The samples of a service's /metrics: values by series, with the labels that Prometheus adds. */
async function scrape(service: TestService): Promise<Map<string, string>> {
  const answer = await fetch(`${service.baseUrl}/metrics`, {
    headers: { authorization: `Bearer ${service.adminToken}` },
  });
  assert.equal(answer.status, 200);
  const samples = [...(await answer.text()).matchAll(/^(verbatim_\w+)(?:\{(.*)\})? (\S+)$/gm)];
  return new Map(samples.map(([, name, labels, value]) => [`${name}{${[labels, LABELS].filter(Boolean)}}`, value!]));
}

/** The alerts that fire when Prometheus gets the same samples each minute. @param isUp  whether the node is scraped */
function alertsOf(samples: Map<string, string>, { isUp = true, minutes = MINUTES } = {}): string[] {
  const series = [...samples].map(([name, value]) => ({ series: name, values: `${value}+0x${minutes}` }));
  const up = { series: `up{${LABELS}}`, values: `${Number(isUp)}+0x${MINUTES}` };
  const fired = /alertname="(\w+)"/g;
  const folder = temporaryFolder();
  const file = path.join(folder, 'alerts-test.yml');
  const firing = 'group by (alertname) (ALERTS{alertstate="firing"})';
  const promql = { expr: firing, eval_time: `${MINUTES}m`, exp_samples: [{ labels: '{none="none"}', value: 1 }] };
  const tests = [{ interval: '1m', input_series: [...series, up], promql_expr_test: [promql] }];
  const rules = [path.join(ROOT, 'ops/alerts.yml')];
  writeFileSync(file, JSON.stringify({ rule_files: rules, evaluation_interval: '1m', tests }));
  try {
    execFileSync(PROMTOOL!, ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
    return [];
  } catch (error) {
    // What is expected never comes: the difference names what came.
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    assert.match(stdout + stderr, /got:/);
    return [...(stdout + stderr).matchAll(fired)].map(([, name]) => name!).sort();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('no alert fires for a service that works; one that is down is reported under any job name, and so is the loss of all targets', {
  skip,
}, async () => {
  await using service = await openService();
  const samples = await scrape(service);

  assert.deepEqual(alertsOf(samples), []);
  assert.deepEqual(alertsOf(samples, { isUp: false, minutes: 5 }), ['VerbatimAbsent', 'VerbatimNodeDown']);
  assert.deepEqual(alertsOf(new Map()), ['VerbatimAbsent']);
});

test('a database that is away is reported by the metrics themselves', { skip }, async () => {
  const folder = temporaryFolder();
  const database = await startOutside(folder);
  await using service = await openService({ DATABASE_URL: database.url, ROLES: 'api,janitor' });
  await database.stop();

  const samples = await until('the database to be missed', async () => {
    const found = await scrape(service);
    return found.get(`verbatim_not_ready{part="database",${LABELS}}`) === '1' ? found : null;
  });
  assert.deepEqual(alertsOf(samples), ['VerbatimDatabaseAway']);
});

test('a disk below its reserve is reported', { skip }, async () => {
  const env = { MIN_FREE_DISK_BYTES: String(2 ** 50) };
  await using service = await openService(env, undefined, (reasons) => reasons.join().includes('disk'));

  // At its start, it has no engine.
  const samples = await until('the engine', async () => {
    const found = await scrape(service);
    return found.get(`verbatim_engine_away_seconds{plan="pro",${LABELS}}`) === '0' ? found : null;
  });
  assert.deepEqual(alertsOf(samples), ['VerbatimDiskFull']);
});

test('an engine that is away is reported', { skip }, async () => {
  const away = 'openai:http://127.0.0.1:9/v1';
  const isUp = (reasons: string[]) => reasons.join().includes('speech server');
  await using service = await openService({ ENGINE_LITE: away, ENGINE_PRO: away }, undefined, isUp);

  const samples = await until('the time of its absence', async () => {
    const found = await scrape(service);
    return Number(found.get(`verbatim_engine_away_seconds{plan="pro",${LABELS}}`)) > 0 ? found : null;
  });
  assert.deepEqual(alertsOf(samples), ['VerbatimEngineAway']);
});

test('a queue that stands is reported', { skip }, async () => {
  await using db = await openTestDatabase();
  await using service = await openService({ DATABASE_URL: db.url, ROLES: 'api,janitor' });
  const { key } = await service.account();
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(toneWav('one'))]), 'a.wav');
  body.append('async', 'true');
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body,
  });
  assert.equal(answer.status, 202);
  await db.run({ text: `update jobs set created_at = now() - interval '20 minutes'` });

  assert.deepEqual(alertsOf(await scrape(service)), ['VerbatimJobsPastDue']);
});

test('a deliverer that stands is reported, and one receiver that hangs is not', { skip }, async () => {
  await using db = await openTestDatabase();
  await using service = await openService({ DATABASE_URL: db.url, ROLES: 'api,janitor' });
  const { key } = await service.account();
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const post = async (route: string, body: object) => {
    const answer = await fetch(service.baseUrl + route, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as { id: string };
  };
  const url = 'https://example.com/hook';
  const { id } = await post('/v1/webhooks', { url, events: ['transcription.completed'] });
  await post(`/v1/webhooks/${id}/test`, {});
  await db.run({ text: `update deliveries set next_at = now() - interval '10 minutes'` });

  await db.run({ text: 'update webhooks set consecutive_failures = 1, failing_since = now()' });
  assert.deepEqual(alertsOf(await scrape(service)), []);
  await db.run({ text: 'update webhooks set consecutive_failures = 0, failing_since = null' });
  assert.deepEqual(alertsOf(await scrape(service)), ['VerbatimDeliveriesPastDue']);
});
