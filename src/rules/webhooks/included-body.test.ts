import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { includedBody } from './included-body.ts';

const METADATA = '{ "data": {"job": {"text": "}\\"]"}}, "big": 12345678901234567890 } ';
const bodyOf = (job: string) => Buffer.from(`{"id":"evt_1","metadata":${METADATA},"data":{"job":${job}}}`);
const JOB = '{"id":"job_1","text":"said \\"é\\\\","segments":[{"text":"]}"},{"words":[[]]}],"cost":0}';

test('a body is the stored one where a webhook includes both parts', () => {
  const body = bodyOf(JOB);
  assert.equal(includedBody(body, ['segments', 'text']), body);
});

test('a part that is not included is named as omitted, and every other byte stays', () => {
  const cases: [('text' | 'segments')[], string][] = [
    [['text'], '{"id":"job_1","text":"said \\"é\\\\","segments_omitted":true,"cost":0}'],
    [['segments'], '{"id":"job_1","text_omitted":true,"segments":[{"text":"]}"},{"words":[[]]}],"cost":0}'],
    [[], '{"id":"job_1","text_omitted":true,"segments_omitted":true,"cost":0}'],
  ];
  for (const [include, job] of cases)
    assert.equal(includedBody(bodyOf(JOB), include).toString(), bodyOf(job).toString());
});

test('a part that is null or was omitted for its size stays so, and a body without a job is not changed', () => {
  const bodies = [
    bodyOf('{"text":null,"segments":null}'),
    bodyOf('{"text_omitted":true,"segments_omitted":true}'),
    bodyOf('{}'),
    Buffer.from('{"id":"evt_1","data":{"webhook":{"text":"t"}}}'),
    Buffer.from('{"id":"evt_1"}'),
  ];
  for (const body of bodies) assert.equal(includedBody(body, []).toString(), body.toString());
});

test('random bodies without the parts parse to the same values as before', () => {
  const random = randomFrom(39);
  const value = (depth: number): unknown => {
    const kind = random.integer(depth > 3 ? 4 : 6);
    if (kind === 0) return random.pick(['\\', '"', '\\"', 'é}{', '][', '\n', '']) + random.pick(['a', '\\', '"']);
    if (kind < 4) return random.pick([null, true, -1.5e-9, 0, 'text', 'segments']);
    if (kind === 4) return Array.from({ length: random.integer(4) }, () => value(depth + 1));
    return Object.fromEntries(['text', 'a"', '\\', 'job'].map((name) => [name, value(depth + 1)]));
  };
  for (let round = 0; round < 2_000; round++) {
    const job = { before: value(0), text: 'x', segments: [value(0)], after: value(0) };
    const event = { metadata: value(0), data: { job } };
    const { text: _, segments: __, ...rest } = job;
    const expected = { ...event, data: { job: { ...rest, text_omitted: true, segments_omitted: true } } };
    const body = Buffer.from(JSON.stringify(event, null, random.pick([0, 1])));
    assert.deepEqual(JSON.parse(includedBody(body, []).toString()), expected, `round ${round}`);
  }
});
