import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const MAX_BYTES = 4096;
const AUDIO = wavFile(0.1);

/** POST /v1/transcribe with exactly these bytes as metadata: FormData would change line ends and lone surrogates. */
async function send(fixture: Fixture, account: Account, metadata: string | Buffer) {
  const part = (head: string, body: string | Buffer) => [`--edge\r\n${head}\r\n\r\n`, body, '\r\n'];
  const pieces = [
    ...part('Content-Disposition: form-data; name="async"', 'true'),
    ...part('Content-Disposition: form-data; name="metadata"', metadata),
    ...part('Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav', AUDIO),
    '--edge--\r\n',
  ];
  const stream = Readable.from([Buffer.concat(pieces.map((piece) => Buffer.from(piece)))], { objectMode: false });
  const contentType = 'multipart/form-data; boundary=edge';
  return await fixture.post(account, '/v1/transcribe', {
    open: () => stream,
    contentType,
    contentLength: null,
    rawQuery: null,
  });
}

/** A JSON string of exactly `bytes` bytes. @param fill  a character of one to four bytes */
function stringOf(bytes: number, fill: string): string {
  const size = Buffer.byteLength(fill);
  const text = fill.repeat(Math.floor((bytes - 2) / size));
  return `"${text}${'x'.repeat(bytes - 2 - Buffer.byteLength(text))}"`;
}

const ECHOED = {
  literals: ['null', 'true', 'false', '0', '""', '[]', '{}'],
  'numbers that a double cannot represent': [
    '12345678901234567890123456789',
    '-0',
    '1.0',
    '1.10',
    '1E5',
    '1e400',
    '-1e-400',
    '0.1000000000000000055511151231257827',
  ],
  'the order of keys, also of numeric keys': ['{"b":1,"a":2,"10":3,"9":4}'],
  'duplicate keys': ['{"a":1,"a":2,"a":{"a":1}}'],
  'keys with a special meaning in JavaScript': ['{"__proto__":{"x":1},"constructor":null,"toJSON":1}'],
  'white space and line ends': [' { "a" :\t1 }\n', '[1,\r\n2,\n3,\r4]'],
  escapes: ['"\\u00e9\\u00E9é\\/\\n\\t\\b\\f\\r\\"\\\\"', '"\\ud83d\\ude00😀"', '"\\u0041"'],
  'lone surrogates and U+0000, escaped': ['"\\ud800"', '"\\udfff\\ud800x"', '"\\u0000"', '{"\\u0000":"a\\u0000b"}'],
  'characters that are special in other formats': [
    '"\u2028\u2029\u007f\u0085\ufeff\ufffd\uffff"',
    '"</script>\'; drop table jobs; --"',
  ],
  'text of many scripts': ['"한글 Ελληνικά עברית 𐍈 🏴\u200d☠️ e\u0301"'],
  'deep nesting': [`${'['.repeat(2000)}${']'.repeat(2000)}`],
  'the maximum size, in characters of one, two, three and four bytes': ['a', 'é', '€', '😀'].map((fill) =>
    stringOf(MAX_BYTES, fill),
  ),
  'escapes within the limit whose text is longer': [`"${'\\u0000'.repeat(682)}"`],
};

for (const [what, texts] of Object.entries(ECHOED)) {
  test(`${what}: returned byte for byte in the answer, the job, the list and the event`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    await fixture.startWorker(openFakeEngine({ says: 'ok' }));

    for (const text of texts) {
      const accepted = await send(fixture, account, text);
      const { id } = accepted.json;
      await fixture.ended(account, id);
      const job = await fixture.get(account, '/v1/jobs/:id', { params: { id } });
      const list = await fixture.get(account, '/v1/jobs', { query: { limit: 1 } });
      const [event] = await fixture.db.rows<{ body: Buffer }>({
        text: 'select body from events where job_id = $1',
        values: [id],
      });

      assert.equal(accepted.status, 202, accepted.text);
      const member = Buffer.from(`"metadata":${text},`);
      for (const shown of [accepted.text, job.text, list.text]) assert.ok(Buffer.from(shown).includes(member), text);
      const head = event!.body.subarray(0, event!.body.indexOf('"data":'));
      assert.ok(head.includes(member), text);
      assert.ok(event!.body.subarray(head.length).includes(member), text);
    }
  });
}

const REFUSED: { what: string; sent: (string | Buffer)[]; status: number }[] = [
  {
    what: 'one byte over the maximum size, in characters of one, two, three and four bytes',
    sent: ['a', 'é', '€', '😀'].map((fill) => stringOf(MAX_BYTES + 1, fill)),
    status: 413,
  },
  {
    what: 'text that is not JSON',
    sent: ['', ' ', '{', "{'a':1}", '{"a":1,}', 'NaN', 'undefined', '01', '+1', '.5', 'abc'],
    status: 400,
  },
  { what: 'two values', sent: ['1 2', '{}{}'], status: 400 },
  { what: 'bytes that JSON text cannot hold', sent: ['"\u0000"', '"\n"', '\ufeff{}'], status: 400 },
  {
    what: 'bytes that are not UTF-8',
    sent: [
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    ],
    status: 400,
  },
];

for (const { what, sent, status } of REFUSED) {
  test(`${what}: rejected with the name of the field, and nothing is stored`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();

    for (const metadata of sent) {
      const answer = await send(fixture, account, metadata);

      assert.deepEqual(
        [answer.status, answer.json.error?.param],
        [status, 'metadata'],
        JSON.stringify(metadata.toString()),
      );
    }
    assert.deepEqual([await fixture.files(), await fixture.db.rows({ text: 'select 1 from jobs' })], [[], []]);
  });
}

for (const [what, texts] of Object.entries(ECHOED)) {
  test(`${what}: replaced byte for byte`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    const { id } = (await fixture.transcribe(account, AUDIO, { async: 'true', metadata: '{"old":1}' })).json;

    for (const text of texts.filter((each) => each !== 'null')) {
      const changed = await fixture.changeMetadata(account, id, text);

      assert.equal(changed.status, 200, changed.text);
      const job = await fixture.get(account, '/v1/jobs/:id', { params: { id } });
      for (const shown of [changed.text, job.text]) assert.ok(shown.includes(`"metadata":${text.trim()},`), text);
    }
  });
}

test('metadata that is over the maximum size as it is written is rejected, and the old stays', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: 'true', metadata: '{"old":1}' })).json;

  const answer = await fixture.changeMetadata(account, id, `[${' '.repeat(MAX_BYTES - 1)}]`);

  assert.deepEqual([answer.status, answer.json.error.param], [413, 'metadata']);
  assert.deepEqual((await fixture.job(account, id)).metadata, { old: 1 });
});

test('lists find a job by its new metadata only, and null removes it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: 'true', metadata: '{"a":1,"b":"x"}' })).json;
  const found = async (metadata: object) =>
    (await fixture.get(account, '/v1/jobs', { query: { metadata } })).json.data.length;

  await fixture.changeMetadata(account, id, '{"b":"y","c":2.50}');
  const counts = [
    await found({ a: '1' }),
    await found({ b: 'x' }),
    await found({ b: 'y' }),
    await found({ c: '2.50' }),
  ];
  const removed = await fixture.changeMetadata(account, id, 'null');

  assert.deepEqual(counts, [0, 0, 1, 1]);
  assert.deepEqual([removed.json.metadata, await found({ b: 'y' })], [null, 0]);
});

test('a job started after the change has the new metadata in its event; a change after its end leaves the event', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: 'true', metadata: '{"n":1}' })).json;

  await fixture.changeMetadata(account, id, '{"n":2}');
  await fixture.startWorker(openFakeEngine({ says: 'ok' }));
  await fixture.ended(account, id);
  const changed = await fixture.changeMetadata(account, id, '{"n":3}');

  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });
  assert.deepEqual(JSON.parse(event!.body.toString()).metadata, { n: 2 });
  assert.deepEqual([changed.json.status, (await fixture.job(account, id)).metadata], ['completed', { n: 3 }]);
});

test('the metadata of a job of another account, or of an erased job, is not changed', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: 'true', metadata: '{"n":1}' })).json;

  const ofOther = await fixture.changeMetadata(await fixture.account(), id, '2');
  const kept = await fixture.job(account, id);
  await fixture.cancel(account, id);
  await fixture.erase(account, id);
  const erased = await fixture.changeMetadata(account, id, '2');

  assert.deepEqual([ofOther.status, kept.metadata, erased.status], [404, { n: 1 }, 404]);
});

test('a job without metadata has metadata null, and its event has no metadata', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'ok' }));

  const { json } = await fixture.transcribe(account, AUDIO);

  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });
  assert.equal(json.metadata, null);
  assert.ok(!('metadata' in JSON.parse(event!.body.toString())));
});
