import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { formOf, jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { COMPLETED } from '../../../test/fixtures/outcome.ts';
import type { Account } from '../../accounts/account.ts';
import { endJob } from '../end/end.ts';
import { replacePairs } from '../search/metadata-store.ts';

const AUDIO = wavFile(0.1);
const NAMED: [string, string][] = [
  ['async', 'true'],
  ['title', 'Call with Zoë'],
  ['tags', 'sales'],
  ['tags', ' Zoë '],
];

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const send = (fields = NAMED, owner: Account = account) =>
    fixture.post(owner, '/v1/transcribe', formOf(AUDIO, fields));
  return {
    ...fixture,
    account,
    other: await fixture.account(),
    send,
    change(id: string, changes: unknown) {
      const bodyText = JSON.stringify(changes);
      const given = { params: { id }, body: JSON.parse(bodyText) as undefined, bodyText };
      return fixture.call(account, 'PATCH', '/v1/jobs/:id', given);
    },
    found: async (query: object) =>
      (await fixture.get(account, '/v1/jobs', { query })).json.data.map(({ id }: { id: string }) => id) as string[],
    read: (id: string) => fixture.job(account, id),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

const namesOf = ({ title, tags }: { title: unknown; tags: unknown }) => [title, tags];

test('a form and a JSON body name a job, and its answer, the job and the list show it', async () => {
  await using environment = await openEnvironment();
  const { send, post, account, read, get } = environment;

  const sent = await send();
  const byUrl = await post(
    account,
    '/v1/transcribe',
    jsonUpload({ audio_url: 'https://a.example.com/a.wav', async: true, title: 'By URL', tags: ['a', 'a'] }),
  );
  const unnamed = await send([['async', 'true']]);

  assert.equal(sent.status, 202, sent.text);
  const list = (await get(account, '/v1/jobs')).json.data;
  assert.deepEqual(namesOf(sent.json), ['Call with Zoë', ['sales', 'Zoë']]);
  assert.deepEqual(namesOf(await read(sent.json.id)), ['Call with Zoë', ['sales', 'Zoë']]);
  assert.deepEqual(namesOf(list.find(({ id }: { id: string }) => id === sent.json.id)), namesOf(sent.json));
  assert.deepEqual([byUrl.status, ...namesOf(byUrl.json)], [202, 'By URL', ['a']]);
  assert.deepEqual(namesOf(await read(unnamed.json.id)), [null, []]);
});

test('a list in a form is a field for each value or a JSON array of strings, and other brackets are text', async () => {
  await using environment = await openEnvironment();
  const { send } = environment;
  const sent = async (...values: string[]) => {
    const { status, json } = await send([
      ['async', 'true'],
      ...values.map((value): [string, string] => ['tags', value]),
      ['keywords', '["Kennedy","Cape Canaveral"]'],
    ]);
    return [status, json.tags ?? json.error.message, json.options?.keywords];
  };
  const KEYWORDS = ['Kennedy', 'Cape Canaveral'];
  const many = JSON.stringify(Array.from({ length: 10 }, (_, at) => `${at} ${'ä'.repeat(60)}`));

  assert.deepEqual(await sent('["sales", "Zoë"]'), [202, ['sales', 'Zoë'], KEYWORDS]);
  assert.deepEqual(await sent('["sales"]', 'Zoë'), [202, ['sales', 'Zoë'], KEYWORDS]);
  assert.deepEqual(await sent('[]'), [202, [], KEYWORDS]);
  assert.deepEqual(await sent('[urgent]', '[1]'), [202, ['[urgent]', '[1]'], KEYWORDS]);
  assert.deepEqual(await sent(many), [202, JSON.parse(many), KEYWORDS]);
  assert.deepEqual(await sent(JSON.stringify(['x'.repeat(300)])), [
    ...[413, 'tags may have at most 256 bytes.', undefined],
  ]);
});

test('a job is renamed and tagged anew in any state, and what the request leaves out stays', async () => {
  await using environment = await openEnvironment();
  const { send, change, read, found } = environment;
  const { id } = (await send([...NAMED, ['metadata', '{"order":1.50}']])).json;

  const renamed = await change(id, { title: ' Second call ' });
  const tagged = await change(id, { tags: ['a', 'b', 'a'] });
  const noted = await change(id, { metadata: { order: 2 } });

  assert.deepEqual([renamed.status, ...namesOf(renamed.json)], [200, 'Second call', ['sales', 'Zoë']]);
  assert.ok(renamed.text.includes('"metadata":{"order":1.50},'), renamed.text);
  assert.deepEqual(namesOf(tagged.json), ['Second call', ['a', 'b']]);
  assert.ok(tagged.text.includes('"metadata":{"order":1.50},'));
  assert.deepEqual([noted.json.metadata, ...namesOf(noted.json)], [{ order: 2 }, 'Second call', ['a', 'b']]);
  assert.deepEqual(namesOf(await read(id)), ['Second call', ['a', 'b']]);
  assert.deepEqual([await found({ tag: 'sales' }), await found({ tag: 'b' })], [[], [id]]);
  const cleared = await change(id, { title: null, tags: [] });
  assert.deepEqual([...namesOf(cleared.json), await found({ tag: 'b' })], [null, [], []]);
  assert.deepEqual(await found({ metadata: { order: '2' } }), [id]);
});

test('a name that cannot be shown is refused, and nothing changes', async () => {
  await using environment = await openEnvironment();
  const { send, change, read } = environment;
  const { id } = (await send()).json;

  for (const [changes, param] of [
    [{ title: 'a\0b' }, 'title'],
    [{ title: 'a\ud800' }, 'title'],
    [{ title: '   ' }, 'title'],
    [{ title: 'fine', tags: ['a\0'] }, 'tags'],
    [{ tags: ['\udc00'] }, 'tags'],
    [{ tags: ['two\nlines'] }, 'tags'],
  ] as const) {
    const { status, json } = await change(id, changes);
    assert.deepEqual([status, json.error?.type, json.error?.param], [400, 'invalid_request', param]);
  }
  assert.deepEqual(namesOf(await read(id)), ['Call with Zoë', ['sales', 'Zoë']]);
  for (const [field, value] of [
    ['title', '\u202e'],
    ['tags', 'x'.repeat(65)],
  ] as const) {
    const refused = await send([...NAMED, [field, value]]);
    assert.deepEqual([refused.status, refused.json.error?.param], [400, field]);
  }
});

test('a tag, alone or with other filters, finds the jobs of its account', async () => {
  await using environment = await openEnvironment();
  const { send, found, get, account, other } = environment;
  const ids = [];
  for (const fields of [
    [...NAMED, ['metadata', '{"order":7}']],
    [...NAMED, ['metadata', '{"order":8}']],
    [
      ['async', 'true'],
      ['metadata', '{"order":7,"\\u0001tag":"sales"}'],
    ],
  ] as [string, string][][]) {
    ids.push((await send(fields)).json.id as string);
  }
  await send(NAMED, other);
  const [first, second] = ids;

  assert.deepEqual(await found({ tag: 'sales' }), [second, first].sort().reverse());
  assert.deepEqual(await found({ tag: ' Zoë' }), [second, first].sort().reverse());
  assert.deepEqual(await found({ tag: 'sales', metadata: { order: '7' } }), [first]);
  assert.deepEqual(await found({ tag: 'sales', status: 'canceled' }), []);
  assert.deepEqual(await found({ tag: 'Sales' }), []);
  assert.deepEqual(await found({ metadata: { '\u0001tag': 'sales' } }), []);
  const refused = await get(account, '/v1/jobs', { query: { tag: 'a\0' } });
  assert.deepEqual([refused.status, refused.json.error.param], [400, 'tag']);
});

test('a part of the title finds a job, in any case', async () => {
  await using environment = await openEnvironment();
  const { send, found } = environment;
  const { id } = (await send()).json;

  assert.deepEqual([await found({ query: 'wITH zoË' }), await found({ query: 'a.wav' })], [[id], [id]]);
  assert.deepEqual(await found({ query: 'without' }), []);
});

test('the event of a job has no names, and a job that was renamed while it ran ends with its new name', async () => {
  await using environment = await openEnvironment();
  const { send, change, db } = environment;
  const { id } = (await send()).json;
  const claimed = (await claimNextJob(db, 60_000))!;
  await change(id, { title: 'New', tags: ['new'] });

  const ended = await endJob(environment, claimed, COMPLETED);

  assert.deepEqual([ended?.title, ended?.tags], ['New', ['new']]);
  const [event] = await db.rows<{ body: Buffer }>({ text: 'select body from events' });
  const { job } = JSON.parse(event!.body.toString()).data;
  assert.deepEqual([job.id, 'title' in job, 'tags' in job], [id, false, false]);
});

test('downloads of a named job have its name', async () => {
  await using environment = await openEnvironment();
  const { send, change, get, account, startWorker, ended } = environment;
  await startWorker(openFakeEngine({ says: 'ok' }));
  const { id } = (await send()).json;
  await ended(account, id);
  const transcript = (format: string) => get(account, '/v1/jobs/:id/transcript', { params: { id }, query: { format } });

  const markdown = await transcript('md');
  const captions = await transcript('srt');
  await change(id, { title: null });
  const unnamed = await transcript('md');

  assert.match(markdown.text, /^# Call with Zoë\n/);
  assert.match(unnamed.text, /^# a\.wav\n/);
  const name = "filename*=UTF-8''Call%20with%20Zo%C3%AB.srt";
  assert.equal(captions.headers['content-disposition'], `attachment; filename="${id}.srt"; ${name}`);
  assert.equal(unnamed.headers['content-disposition'], `attachment; filename="${id}.md"`);
});

test('a release that knows no names reads, tags and erases a job as before', async () => {
  await using environment = await openEnvironment();
  const { send, db, account, found, change } = environment;
  const { id } = (await send()).json;
  // As it replaces metadata and inserts jobs.
  await replacePairs(db, { shard: account.shard, accountId: account.id, id }, [{ key: 'order', value: '1' }]);
  await db.run({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, next_at, created_at)
      select shard, 'job_0', account_id, state, plan, word_times, format, size_bytes, duration_ms, next_at, created_at
      from jobs where id = $1`,
    values: [id],
  });
  const rows = await db.rows({ text: `select title, tags from jobs where id = 'job_0'` });

  assert.deepEqual([rows, await found({ tag: 'sales' })], [[{ title: null, tags: [] }], []]);
  await change(id, { metadata: { order: 1 } });
  assert.deepEqual(await found({ tag: 'sales' }), [id]);
});
