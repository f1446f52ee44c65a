import assert from 'node:assert/strict';
import test from 'node:test';
import { byteSize, clockTime, credits, milliseconds, withQuery } from '../../console/text/format.ts';
import { memberText, prettyJson } from '../../console/text/json-text.ts';
import { curlOf, quote, sdkOf } from '../../console/text/request-code.ts';
import { exactTime, relativeTime } from '../../console/text/times.ts';

const METADATA = '{"order": 12345678901234567890, "a":[1.0,1e400,{"metadata":1}], "t":"}\\",\\"metadata\\":[", "a":2}';

test('metadata is cut out of a job as it was written', () => {
  const job = `{"id":"job_1","text":"\\"metadata\\":3","nested":{"metadata":4},"metadata":${METADATA},"error":null}`;

  assert.equal(memberText(job, 'metadata'), METADATA);
  assert.equal(memberText(job, 'error'), 'null');
  assert.equal(memberText(job, 'order'), null);
  assert.equal(memberText('{"metadata" : "metadata" }', 'metadata'), '"metadata"');
});

test('JSON is laid out without a change to its digits, keys and escapes', () => {
  assert.equal(
    prettyJson('{"a":12345678901234567890,"a":[],"b":[1.0,{}]}'),
    ['{', '  "a": 12345678901234567890,', '  "a": [],', '  "b": [', '    1.0,', '    {}', '  ]', '}'].join('\n'),
  );
  assert.equal(prettyJson(METADATA).replace(/\n\s*/g, '').replaceAll(': ', ':'), METADATA.replace(/(?<=[,:]) /g, ''));
  assert.equal(prettyJson('<b>{no json</b>'), '<b>{no json</b>');
});

test('figures are written for people', () => {
  assert.deepEqual(
    [clockTime(7.46, 1), clockTime(59.96, 1), clockTime(3723), clockTime(0)],
    ['0:07.5', '1:00.0', '1:02:03', '0:00'],
  );
  assert.deepEqual(
    [byteSize(987), byteSize(96_400), byteSize(999_600), byteSize(1.2e9)],
    ['987 B', '96.4 KB', '1.0 MB', '1.2 GB'],
  );
  assert.deepEqual([0, 0.0000333, 0.0333, 0.12345, 1.6419, 593.25, -0.4, -12.345].map(credits), [
    '0',
    '<\u00a00.0001',
    '0.0333',
    '0.1235',
    '1.64',
    '593.25',
    '−0.4',
    '−12.35',
  ]);
  assert.deepEqual([milliseconds(1.636175), milliseconds(47.25), milliseconds(null)], ['1.6 ms', '47 ms', '–']);
  assert.equal(withQuery('/v1/jobs', { status: 'failed', cursor: '', limit: null }), '/v1/jobs?status=failed');
});

test('times are written relative to now, and after a week as dates', () => {
  const nowMs = Date.parse('2026-11-21T10:00:00.000Z');
  const at = (iso: string) => relativeTime(Date.parse(iso), nowMs, true);

  assert.deepEqual(
    [at('2026-11-21T09:59:59.500Z'), at('2026-11-21T09:59:30.000Z'), at('2026-11-21T09:50:30.000Z')],
    ['now', '30 s ago', '9 min ago'],
  );
  assert.deepEqual(
    [at('2026-11-21T12:30:00.000Z'), at('2026-11-19T08:00:00.000Z'), at('2026-11-02T08:00:00.000Z')],
    ['in 2 h', '2 d ago', '2 Nov 2026'],
  );
  assert.equal(exactTime('2026-11-21T09:30:05.123Z', true), '21 Nov 2026, 09:30:05 UTC');
});

test('a request is written as curl, with every argument quoted, and as code for the SDK', () => {
  const origin = 'https://speech.example.com';

  assert.equal(quote("it's"), "'it'\\''s'");
  assert.equal(
    curlOf({ method: 'GET', path: '/v1/jobs', query: { query: "o'clock", status: '' } }, origin),
    'curl \'https://speech.example.com/v1/jobs?query=o%27clock\' \\\n  -H "X-API-Key: $VERBATIM_API_KEY"',
  );
  assert.equal(
    curlOf({ method: 'PATCH', path: '/v1/webhooks/wh_1', body: { active: true } }, origin)
      .split(' \\\n  ')
      .at(-1),
    `-d '{"active":true}'`,
  );
  assert.match(curlOf({ method: 'DELETE', path: '/v1/keys/key_1' }, origin), /^curl -X DELETE '/);
  assert.match(
    sdkOf({ method: 'GET', path: '/v1/jobs', query: { status: 'failed' }, sdk: 'client.jobs.list' }, origin)!,
    /for await \(const item of client\.jobs\.list\(\{ status: "failed" \}\)\) \{/,
  );
  assert.equal(sdkOf({ method: 'GET', path: '/v1/jobs' }, origin), null);
});
