import assert from 'node:assert/strict';
import test from 'node:test';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openService } from '../fixtures/service.ts';

const TEXT = 'hello quiet world';

test('a link to a transcript opens without a key, is no secret of the log, and ends', async () => {
  await using service = await openService();
  const { id: accountId, key } = await service.account();
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
    const type = body && { 'content-type': 'application/json' };
    const init = { method, headers: { ...headers, ...type }, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(service.baseUrl + path, init);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: /^\{/.test(text) ? JSON.parse(text) : null };
  };
  const own = { 'x-api-key': key };
  const admin = { authorization: `Bearer ${service.adminToken}` };
  const form = new FormData();
  form.append('file', new Blob([toneWav(TEXT)]), 'Meeting (Monday).wav');
  const job = (await (
    await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers: own, body: form })
  ).json()) as { id: string };
  const repeated = { ...own, 'idempotency-key': 'share-1' };

  const made = await ask('POST', `/v1/jobs/${job.id}/share`, repeated, {});
  const again = await ask('POST', `/v1/jobs/${job.id}/share`, repeated, {});
  const tooShort = await ask('POST', `/v1/jobs/${job.id}/share`, own, { expires_in: 59 });
  const tooLong = await ask('POST', `/v1/jobs/${job.id}/share`, own, { expires_in: 30 * 86_400 + 1 });
  const token = made.json.url.split('/').at(-1) as string;
  const open = (query = '') => ask('GET', `/v1/shared/${token}${query}`);
  const opened = await open();
  const file = await open('?format=srt');
  const wrongFormat = await open('?format=xml');

  assert.deepEqual([made.status, again.json], [201, made.json]);
  assert.deepEqual([tooShort.status, tooLong.json.error.param], [400, 'expires_in']);
  assert.ok(Math.abs(Date.parse(made.json.expires_at) - Date.now() - 7 * 86_400_000) < 120_000);
  assert.deepEqual([opened.status, opened.json.text, opened.json.name], [200, TEXT, 'Meeting (Monday).wav']);
  assert.deepEqual(
    ['cache-control', 'referrer-policy', 'x-robots-tag', 'x-content-type-options'].map((name) =>
      opened.headers.get(name),
    ),
    ['no-store', 'no-referrer', 'noindex, nofollow', 'nosniff'],
  );
  assert.match(file.text, /^1\n00:00:0/);
  assert.equal(
    file.headers.get('content-disposition'),
    `attachment; filename="transcript.srt"; filename*=UTF-8''Meeting%20%28Monday%29.srt`,
  );
  assert.equal(wrongFormat.status, 400);

  const states = [];
  for (const action of ['suspend', 'resume']) {
    await ask('POST', `/admin/v1/accounts/${accountId}/${action}`, admin);
    states.push((await open()).status);
  }
  const { data } = (await ask('GET', `/v1/jobs/${job.id}/shares`, own)).json;
  const erased = await ask('DELETE', `/v1/jobs/${job.id}`, own);
  const after = await open();
  const unknown = await ask('GET', `/v1/shared/${token.slice(0, 27)}${'x'.repeat(43)}`);
  const audit = await ask('GET', '/admin/v1/audit?action=share.created', admin);

  const withoutId = (text: string) => text.replace(/req_\w+/, '');
  assert.deepEqual([states, data[0].opened_count, erased.status, after.status], [[404, 200], 3, 204, 404]);
  assert.equal(withoutId(after.text), withoutId(unknown.text));
  assert.deepEqual([audit.json.data[0].target_id, audit.json.data[0].details.job_id], [made.json.id, job.id]);
  assert.ok(service.logText().includes(made.json.id));
  assert.ok(!service.logText().includes(token));
});
