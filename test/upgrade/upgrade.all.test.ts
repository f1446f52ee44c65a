import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { openEmptyDatabase } from '../fixtures/database/test-database.ts';
import { LiveClient } from '../fixtures/live-client.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';
import { loadVersion, readMade, SECRETS_KEY, VERSIONS, writeAudio } from './load.ts';
import { type ApiOf, call, LIVE_TEXTS, liveAudio, type Made } from './traffic.ts';

for (const version of VERSIONS) {
  test(`data of ${version} is whole: its pages are as before, its jobs end, and its deliveries arrive`, async () => {
    const made = readMade(version);
    await using receiver = await openReceiver();
    await using db = await openEmptyDatabase();
    await loadVersion(db, version, `127.0.0.1:${receiver.port}`);
    const dataDir = temporaryFolder();
    await writeAudio(db, dataDir);
    writeFileSync(path.join(dataDir, 'ca.pem'), testAuthority.cert);
    const env = {
      DATABASE_URL: db.url,
      SECRETS_KEY,
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      NODE_EXTRA_CA_CERTS: path.join(dataDir, 'ca.pem'),
      WEBHOOK_RETRY_DELAYS: '0,600,600,600',
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    };

    await pagesAreAsBefore(env, dataDir, made);
    await using service = await openService(env, dataDir);
    const api = { baseUrl: service.baseUrl, key: made.key };
    await goOn(api, made.live);
    await jobsEnd(api, made);
    await deliveriesArrive(receiver, made);
    assert.doesNotMatch(service.logText(), /"level":"error"/);
  });
}

/** On a node that changes nothing. */
async function pagesAreAsBefore(env: Record<string, string>, dataDir: string, made: Made): Promise<void> {
  const reader = await openService({ ...env, ROLES: 'api' }, dataDir);
  try {
    for (const [route, before] of Object.entries(made.answers)) {
      const now = await call({ baseUrl: reader.baseUrl, key: made.key }, 'GET', route);
      // The jobs that were accepted after the pages were read are in its sums.
      if (route !== '/v1/usage') assert.deepEqual(changesIn(before, now), [], route);
    }
  } finally {
    await reader.stop();
  }
}

async function goOn(api: ApiOf, live: Made['live']): Promise<void> {
  const client = new LiveClient(api.baseUrl, live);
  client.audio = Buffer.from(liveAudio(0));
  const hello = await client.connect();
  assert.equal(hello.offset, liveAudio(0).length);
  client.send(liveAudio(1));
  await client.finish();
  assert.equal(client.text, LIVE_TEXTS.join(' '));
}

async function jobsEnd(api: ApiOf, made: Made): Promise<void> {
  for (const id of made.jobs.open) {
    const job = await until(`${id} to end`, async () => {
      const found = await call(api, 'GET', `/v1/jobs/${id}`);
      return ['completed', 'failed'].includes(found.status) ? found : null;
    });
    assert.deepEqual([job.status, job.text], ['completed', job.metadata.call]);
  }
}

/** The failing receiver accepts now: it gets each event of before and after. */
async function deliveriesArrive(receiver: Awaited<ReturnType<typeof openReceiver>>, made: Made): Promise<void> {
  const wanted = [...made.jobs.completed, ...made.jobs.failed, ...made.jobs.open].sort();
  const arrived = () =>
    receiver.requests
      .filter((request) => request.path === '/failing')
      .map(({ body }) => JSON.parse(String(body)).data.job.id as string)
      .filter((id) => wanted.includes(id));
  await until('all events', () => new Set(arrived()).size === wanted.length);
  assert.deepEqual([...new Set(arrived())].sort(), wanted);
}

// What time, or the jobs that were accepted after the pages were read, change.
const CHANGING = /^(last_used_at|amount|held|consecutive_failures|failing_since|.*_at)$/;
// The port of a receiver, and times in texts.
const MOVED = /127\.0\.0\.1:\d+|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** The places where an answer has lost something that it had; new fields and new elements of lists are no loss. */
function changesIn(before: unknown, now: unknown, place = ''): string[] {
  if (Array.isArray(before) && Array.isArray(now)) {
    return before.flatMap((item, at) => {
      const id = idOf(item);
      const same = id === null ? now[at] : now.find((other) => idOf(other) === id);
      return changesIn(item, same, `${place}[${id ?? at}]`);
    });
  }
  if (typeof before === 'object' && before !== null && typeof now === 'object' && now !== null) {
    return Object.entries(before)
      .filter(([name]) => !CHANGING.test(name))
      .flatMap(([name, value]) => changesIn(value, (now as Record<string, unknown>)[name], `${place}.${name}`));
  }
  const same =
    typeof before === 'string' && typeof now === 'string'
      ? before.replace(MOVED, '') === now.replace(MOVED, '')
      : Object.is(before, now);
  return same ? [] : [`${place}: ${JSON.stringify(before)} became ${JSON.stringify(now)}`];
}

/** Of an element of a list: what tells it apart from the others; null without an id. */
function idOf(item: unknown): string | null {
  const { id, job_id } = (typeof item === 'object' && item !== null ? item : {}) as { id?: string; job_id?: string };
  return id ?? job_id ?? null;
}
