import assert from 'node:assert/strict';
import test from 'node:test';
import { jobJson } from './job-json.ts';

test('metadata keeps its digits and its signs, and nothing is added', () => {
  const text = '{"n":12345678901234567890,"d":"$&"}';
  const job = { id: 'job_1', metadata: JSON.parse(text), metadataText: text, text: '"mark"' };

  assert.equal(jobJson(job, 'mark-1'), `{"id":"job_1","metadata":${text},"text":"\\"mark\\""}`);
  assert.equal(jobJson({ metadata: null, metadataText: null }, 'mark-1'), '{"metadata":null}');
});
