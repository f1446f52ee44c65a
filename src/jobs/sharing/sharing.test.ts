import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR, TEST_KEY_ID } from '../../../test/fixtures/caller.ts';
import { checkedRoutes } from '../../../test/fixtures/checked-routes.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { bare, callRoute, openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Account, Actor } from '../../accounts/account.ts';
import { markDeleted } from '../../accounts/erasure-store.ts';
import type { Database } from '../../db/database.ts';
import { deleteInBatches } from '../../db/statements/batched-delete.ts';
import { editRoutes } from '../edits/routes.ts';
import { deleteJobs } from '../retention/erasure-store.ts';
import { deleteOldJobs } from '../retention/retention-store.ts';
import { openShareRoute } from './open-share-route.ts';
import { shareRoutes } from './share-routes.ts';
import { deleteExpiredShares } from './share-store.ts';

const ENDED = 'This link has ended, or was changed. Ask whoever sent it for another one.';
const SEGMENTS = ['A', 'B'].map((speaker, i) => ({
  start: i,
  end: i + 1,
  text: `part ${i}`,
  confidence: 0.9,
  speaker,
}));
const MONTH_SECONDS = 30 * 86_400;

/** A completed job, whose audio came from a URL with metadata that nobody else may see. */
async function openEnvironment(env: Record<string, string> = {}) {
  const fixture = await openJobFixture(env);
  const { db } = fixture;
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  const routes = checkedRoutes([...shareRoutes(fixture), openShareRoute(fixture), ...editRoutes(fixture)]);
  const call = (owner: Account, method: string, path: string, given: object) =>
    callRoute(routes.find((route) => route.method === method && route.path === path)!, { ...bare(owner), ...given });
  const completed = async () => {
    const fields = { async: 'true', metadata: '{"secret": 1}' };
    const { id } = (await fixture.transcribe(account, wavFile(1), fields)).json;
    await fixture.ended(account, id);
    const text = 'update jobs set segments = $1, audio_source = $2 where id = $3';
    await db.run({ text, values: [JSON.stringify(SEGMENTS), 'https://files.example/secret.wav', id] });
    return id as string;
  };
  const jobId = await completed();
  const share = (body: object = {}, { owner = account, id = jobId, actor = TEST_ACTOR } = {}) =>
    call(owner, 'POST', '/v1/jobs/:id/share', { params: { id }, body, actor });
  return {
    fixture,
    db,
    account,
    jobId,
    call,
    completed,
    share,
    /** The token of a new link. */
    async token(body: object = {}, more: Parameters<typeof share>[1] = {}) {
      const { json, status } = await share(body, more);
      assert.equal(status, 201, JSON.stringify(json));
      return (json.url as string).split('/').at(-1)!;
    },
    open: (token: string, query: object = {}, more: object = {}) =>
      call({} as Account, 'GET', '/v1/shared/:token', { params: { token }, query, ...more }),
    list: async (owner = account) => (await call(owner, 'GET', '/v1/jobs/:id/shares', { params: { id: jobId } })).json,
    end: (shareId: string, owner = account, id = jobId) =>
      call(owner, 'DELETE', '/v1/jobs/:id/shares/:share_id', { params: { id, share_id: shareId } }),
    edit: (body: object) => call(account, 'PATCH', '/v1/jobs/:id/transcript', { params: { id: jobId }, body }),
    rows: () => db.rows<{ id: string }>({ text: 'select id from transcript_shares' }),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

const isEnded = ({ status, json }: { status: number; json: { error?: { message: string } } }) =>
  status === 404 && json.error?.message === ENDED;

test('a link shows the edited transcript and nothing else of the account', async () => {
  await using environment = await openEnvironment();
  const { open } = environment;
  const token = await environment.token();
  const segments = [{ index: 1, text: 'the edited end' }];
  await environment.edit({ segments, speakers: { A: 'Anna', B: 'secret' }, merged_speakers: { B: 'A' } });

  const { status, json, headers, text } = await open(token);

  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json).toSorted(), [
    ...['created_at', 'duration_seconds', 'expires_at', 'language', 'name', 'segments', 'speakers', 'text'],
    'translated_to',
  ]);
  assert.deepEqual(
    [json.name, json.duration_seconds, json.text, json.speakers],
    ['a.wav', 1, 'Anna: part 0 the edited end', { A: 'Anna' }],
  );
  assert.deepEqual(
    json.segments.map((segment: { speaker: string; text: string }) => [segment.speaker, segment.text]),
    [
      ['Anna', 'part 0'],
      ['Anna', 'the edited end'],
    ],
  );
  assert.deepEqual([headers['referrer-policy'], headers['x-robots-tag']], ['no-referrer', 'noindex, nofollow']);
  assert.doesNotMatch(text, /secret|part 1|job_|acct_|key_/);
});

test('a link to a job with a title is called so, and shows no tags', async () => {
  await using environment = await openEnvironment();
  const token = await environment.token();
  await environment.db.run({ text: `update jobs set title = 'Call with Zoë', tags = '["secret"]'` });

  const { json, text } = await environment.open(token);
  const markdown = await environment.open(token, { format: 'md' });

  assert.equal(json.name, 'Call with Zoë');
  assert.doesNotMatch(text, /secret/);
  assert.match(markdown.text, /^# Call with Zoë\n/);
  assert.match(markdown.headers['content-disposition']!, /''Call%20with%20Zo%C3%AB\.md$/);
});

test('a link gives files too, which name neither the job nor the source of its audio', async () => {
  await using environment = await openEnvironment();
  const token = await environment.token();
  await environment.db.run({ text: 'update jobs set filename = null' });

  const files = await Promise.all(['text', 'srt', 'vtt', 'md'].map((format) => environment.open(token, { format })));
  const [pdf, docx] = [
    await environment.open(token, { format: 'pdf' }),
    await environment.open(token, { format: 'docx' }),
  ];

  assert.match(files[3]!.text, /^# Transcript\n/);
  for (const { status, text, headers } of files) {
    assert.equal(status, 200);
    assert.match(text, /part 0|hi/);
    assert.doesNotMatch(text, /secret|job_/);
    assert.match(
      headers['content-disposition']!,
      /^attachment; filename="transcript\.\w+"; filename\*=UTF-8''Transcript\.\w+$/,
    );
    assert.equal(headers['x-robots-tag'], 'noindex, nofollow');
  }
  assert.equal((await buffer(pdf.stream!)).toString('latin1').slice(0, 5), '%PDF-');
  assert.equal((await buffer(docx.stream!)).toString('latin1').slice(0, 2), 'PK');
});

test('a link names its token once: lists show when it ends and how often it was opened', async () => {
  await using environment = await openEnvironment({ PUBLIC_URL: 'https://speech.example/' });
  const before = Date.now();
  const made = (await environment.share({ expires_in: 3_600 })).json;
  const token = made.url.split('/').at(-1);
  const unopened = await environment.list();
  await environment.open(token);
  await environment.open(token, { format: 'text' });
  const { data } = await environment.list();

  assert.match(made.url, /^https:\/\/speech\.example\/#\/shared\/[0-9a-z]{26}_[\w-]{43}$/);
  assert.ok(Math.abs(Date.parse(made.expires_at) - before - 3_600_000) < 60_000);
  assert.deepEqual([unopened.data[0].opened_count, unopened.data[0].last_opened_at], [0, null]);
  assert.deepEqual([data.length, data[0].id, data[0].opened_count], [1, made.id, 2]);
  assert.ok(Date.parse(data[0].last_opened_at) > before - 60_000);
  assert.doesNotMatch(JSON.stringify(data), new RegExp(token));
  const stored = await environment.db.rows({ text: 'select * from transcript_shares' });
  assert.doesNotMatch(JSON.stringify(stored), new RegExp(token));
});

test('a wrong token, a link that has expired and one that was ended are answered alike', async () => {
  await using environment = await openEnvironment();
  const { open, db } = environment;
  const token = await environment.token();
  const expired = await environment.token();
  const ended = await environment.token();
  await db.run({
    text: `update transcript_shares set expires_at = statement_timestamp() where id = $1`,
    values: [(await environment.list()).data[1].id],
  });
  const { data } = await environment.list();
  const { status } = await environment.end(data[0].id);

  const wrong = [
    expired,
    ended,
    `${token.slice(0, -2)}xx`,
    `01kamz2f3q8r5t7v9wxyzabcde_${token.slice(-43)}`,
    ...['', 'x', `${token}x`, token.toUpperCase()],
  ];
  const answers = await Promise.all(wrong.map((text) => open(text)));

  assert.equal(status, 204);
  assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1);
  assert.ok(answers.every(isEnded));
  assert.equal(answers[0]!.headers['x-robots-tag'], 'noindex, nofollow');
  assert.equal((await open(token)).status, 200);
  assert.deepEqual((await environment.list()).data.length, 1);
});

test('another account, and another job, neither list nor end a link', async () => {
  await using environment = await openEnvironment();
  const other = await environment.fixture.account();
  const otherJob = await environment.completed();
  const { id } = (await environment.share()).json;

  const answers = [
    await environment.end(id, other),
    await environment.end(id, environment.account, otherJob),
    await environment.share({}, { owner: other }),
    await environment.end('shr_x'),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.equal((await environment.list(other)).error.type, 'not_found');
  assert.equal((await environment.rows()).length, 1);
});

test('only a completed job is shared, and it has at most 20 links at a time', async () => {
  await using environment = await openEnvironment();
  const { db } = environment;
  const canceled = await environment.completed();
  await db.run({ text: `update jobs set state = 'canceled', audio_key = null where id = $1`, values: [canceled] });

  const notCompleted = await environment.share({}, { id: canceled });
  for (let i = 0; i < 18; i++) await environment.token();
  const made = await atOnce(db, () => Promise.all(Array.from({ length: 4 }, () => environment.share())));
  const { data } = await environment.list();
  await environment.end(data[0].id);
  const again = await environment.share();

  assert.deepEqual([notCompleted.status, notCompleted.json.error.type], [409, 'conflict']);
  assert.deepEqual(made.map(({ status }) => status).toSorted(), [201, 201, 409, 409]);
  assert.deepEqual([data.length, again.status], [20, 201]);
});

/** Makes four links at once: none is stored before each of the others waits to be stored, or for its turn. */
async function atOnce<Result>(db: Database, makeFour: () => Promise<Result>): Promise<Result> {
  await db.run({
    text: `
      create function wait_for_test() returns trigger language plpgsql
      as $$ begin perform pg_advisory_xact_lock_shared(7); return new; end $$`,
  });
  await db.run({
    text: 'create trigger wait before insert on transcript_shares for each row execute function wait_for_test()',
  });
  const waiting = `
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ~ 'transcript_shares|for update'`;
  const making = await db.transaction(async (tx) => {
    await tx.rows({ text: 'select pg_advisory_xact_lock(7)' });
    const made = makeFour();
    await until('all four to wait', async () => (await db.rows<{ count: number }>({ text: waiting }))[0]!.count === 4);
    return { made };
  });
  return await making.made;
}

test('a link ends with its key, and not after it; the key must read and write jobs', async () => {
  await using environment = await openEnvironment();
  const { db } = environment;
  const actorWith = (key: Partial<Actor['key']>): Actor => ({ ...TEST_ACTOR, key: { ...TEST_ACTOR.key!, ...key } });
  const soon = new Date(Date.now() + 3_600_000);

  const writeOnly = await environment.share({}, { actor: actorWith({ scopes: ['jobs:write'] }) });
  const capped = (await environment.share({ expires_in: MONTH_SECONDS }, { actor: actorWith({ expiresAt: soon }) }))
    .json;
  const token = capped.url.split('/').at(-1);
  const before = await environment.open(token);
  await db.run({ text: `update api_keys set scopes = '{webhooks:read}' where id = $1`, values: [TEST_KEY_ID] });
  const withoutScope = await environment.open(token);
  await db.run({ text: `update api_keys set scopes = '{}' where id = $1`, values: [TEST_KEY_ID] });
  const withScope = await environment.open(token);
  await db.run({ text: 'delete from api_keys where id = $1', values: [TEST_KEY_ID] });

  assert.deepEqual([writeOnly.status, writeOnly.json.required_scope], [403, 'jobs:read']);
  assert.equal(capped.expires_at, soon.toISOString());
  assert.deepEqual([before.status, withScope.status], [200, 200]);
  assert.ok(isEnded(withoutScope));
  assert.ok(isEnded(await environment.open(token)));
  assert.deepEqual((await environment.list()).data, []);
});

test('a link opens nothing while the account is suspended, and ends with the account', async () => {
  await using environment = await openEnvironment();
  const { db, account } = environment;
  const token = await environment.token();
  const suspend = (time: string) => db.run({ text: `update accounts set suspended_at = ${time}` });

  await suspend('now()');
  const suspended = await environment.open(token);
  await suspend('null');
  const resumed = await environment.open(token);
  await markDeleted(db, account.id);

  assert.ok(isEnded(suspended));
  assert.equal(resumed.status, 200);
  assert.ok(isEnded(await environment.open(token)));
});

test('whatever erases a job erases its links, and expired ones are deleted', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, db } = environment;
  const { shard } = account;
  const [byAge, byAccount, kept] = [
    await environment.completed(),
    await environment.completed(),
    await environment.completed(),
  ];
  for (const id of [environment.jobId, byAge, byAccount, kept, kept]) await environment.share({}, { id });
  const left = async () => (await environment.rows()).length;
  const counts = [await left()];

  await fixture.erase(account, environment.jobId);
  counts.push(await left());
  // Its audio may not have been erased yet, which is done first.
  const text = `update jobs set audio_key = null, completed_at = now() - interval '400 days' where id = $1`;
  await db.run({ text, values: [byAge] });
  await deleteOldJobs(db, { shard, keepDays: 365, limit: 10 });
  counts.push(await left());
  await deleteJobs(db, shard, [byAccount]);
  counts.push(await left());
  await db.run({
    text: `
      update transcript_shares
      set expires_at = statement_timestamp()
      where id = (select max(id) from transcript_shares)`,
  });
  const deleted = await deleteInBatches((each) => deleteExpiredShares(db, { shard: each, limit: 500 }), undefined);
  counts.push(await left());

  assert.deepEqual([counts, deleted], [[5, 4, 3, 2, 1], 1]);
});

test('the audit log has who made and who ended a link, and no token', async () => {
  await using environment = await openEnvironment();
  const made = (await environment.share()).json;
  await environment.open(made.url.split('/').at(-1));
  await environment.end(made.id);

  const rows = await environment.db.rows<Record<string, unknown>>({
    text: 'select action, key_id, target_id, details from audit_log order by id',
  });

  const job_id = environment.jobId;
  assert.deepEqual(rows, [
    {
      action: 'share.created',
      key_id: TEST_KEY_ID,
      target_id: made.id,
      details: { job_id, expires_at: made.expires_at },
    },
    { action: 'share.deleted', key_id: TEST_KEY_ID, target_id: made.id, details: { job_id } },
  ]);
});

const from = (address: string) => ({ actor: { ...TEST_ACTOR, key: null, address } });

test('tokens that open nothing keep nobody from a right link, and are limited by address', async () => {
  await using environment = await openEnvironment();
  const { open } = environment;
  const token = await environment.token();
  // More than all addresses together may try: from 60 parts of a /48, each beyond its own limit.
  const parts = Array.from({ length: 60 }, (_, i) => `2001:db8:1:${(i * 256).toString(16)}::1`);
  for (const address of [...parts, '192.0.2.1']) {
    await Promise.all(Array.from({ length: 120 }, () => open('x', {}, from(address))));
  }

  const wrong = await open('x', {}, from('192.0.2.1'));
  const right = [];
  for (const address of [...parts.slice(0, 2), '192.0.2.1', '192.0.2.1', '198.51.100.1', '198.51.100.1']) {
    right.push((await open(token, {}, from(address))).status);
  }

  assert.deepEqual(right, Array(6).fill(200));
  assert.equal(wrong.status, 429);
  assert.ok(Number(wrong.headers['retry-after']) > 0);
  assert.equal(wrong.json.retry_after, Number(wrong.headers['retry-after']));
});

test('a link is opened at most 600 times in a minute, which leaves the openings of other links', async () => {
  await using environment = await openEnvironment();
  const [token, other] = [await environment.token(), await environment.token()];
  const opening = Array.from({ length: 600 }, () => environment.open(token, { format: 'text' }));
  const statuses = new Set((await Promise.all(opening)).map(({ status }) => status));

  const refused = await environment.open(token, {}, from('198.51.100.1'));

  assert.deepEqual([...statuses], [200]);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.equal((await environment.open(other)).status, 200);
});
