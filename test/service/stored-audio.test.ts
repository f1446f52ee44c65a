import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { audioFilesIn } from '../fixtures/audio/audio-files.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, type ServiceAccount } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const WORDS = 'hello quiet world';
const AUDIO = Buffer.from(toneWav(WORDS));
const SETTINGS = {
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
  AUDIO_RETENTION_HOURS: '24',
  RATE_LIMIT_DEFAULT: 'off',
  RATE_LIMIT_TRANSCRIBE: 'off',
};

test('the stored audio of jobs, on a running service', async (t) => {
  await using service = await openService(SETTINGS);
  const account = await service.account({ credits: 10 });
  const other = await service.account();

  async function ask(
    who: ServiceAccount | null,
    method: string,
    route: string,
    body?: object,
    more: Record<string, string> = {},
  ) {
    const headers = {
      ...(who && { 'x-api-key': who.key }),
      ...(body && { 'content-type': 'application/json' }),
      ...more,
    };
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') && bytes.length > 0;
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
      json: (isJson ? JSON.parse(String(bytes)) : null) as any,
    };
  }

  async function transcribe(fields: Record<string, string> = {}, name = 'a.wav') {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append('file', new Blob([Uint8Array.from(AUDIO)]), name);
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
      method: 'POST',
      headers: { 'x-api-key': account.key },
      body: form,
    });
    // biome-ignore lint/suspicious/noExplicitAny: a job
    return (await answer.json()) as any;
  }

  const ended = (id: string) =>
    until(`the end of ${id}`, async () => {
      const { json } = await ask(account, 'GET', `/v1/jobs/${id}`);
      return json.completed_at === null ? null : json;
    });
  const files = () => audioFilesIn(path.join(service.dataDir, 'audio')).length;
  const job = await transcribe({ timestamps: 'word', metadata: '{"n":1.0}' }, "Réunion '1'; a=b (2).wav");
  assert.equal(job.text, WORDS, JSON.stringify(job));
  const audioPath = `/v1/jobs/${job.id}/audio`;

  await t.test('it is sent whole, in parts, and in a form in which nothing runs', async () => {
    const whole = await ask(account, 'GET', audioPath);
    const part = await ask(account, 'GET', audioPath, undefined, { range: 'bytes=100-199' });
    const end = await ask(account, 'GET', audioPath, undefined, { range: 'bytes=-10' });
    const changed = await ask(account, 'GET', audioPath, undefined, { range: 'bytes=0-1', 'if-range': '"other"' });
    const same = await ask(account, 'GET', audioPath, undefined, {
      range: 'bytes=0-1',
      'if-range': whole.headers.get('etag')!,
    });
    const behind = await ask(account, 'GET', audioPath, undefined, { range: `bytes=${AUDIO.length}-` });
    const head = await ask(account, 'HEAD', audioPath);

    assert.deepEqual([whole.status, whole.bytes.equals(AUDIO)], [200, true]);
    assert.deepEqual([part.status, part.bytes.equals(AUDIO.subarray(100, 200))], [206, true]);
    assert.equal(part.headers.get('content-range'), `bytes 100-199/${AUDIO.length}`);
    assert.deepEqual([end.status, end.bytes.equals(AUDIO.subarray(-10))], [206, true]);
    assert.deepEqual([changed.status, same.status, same.bytes.length], [200, 206, 2]);
    assert.deepEqual([behind.status, behind.json.error.type], [416, 'range_not_satisfiable']);
    assert.equal(behind.headers.get('content-range'), `bytes */${AUDIO.length}`);
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(AUDIO.length)]);
    assert.equal(whole.headers.get('content-type'), 'audio/wav');
    assert.equal(whole.headers.get('accept-ranges'), 'bytes');
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    assert.match(whole.headers.get('content-security-policy')!, /default-src 'none'.*sandbox/);
    assert.equal(
      whole.headers.get('content-disposition'),
      `attachment; filename="${job.id}.wav"; filename*=UTF-8''R%C3%A9union%20%271%27%3B%20a%3Db%20%282%29.wav`,
    );
  });

  await t.test('a copy in Opus is sent whole and in parts, by links too', async () => {
    const whole = await ask(account, 'GET', `${audioPath}?format=opus`);
    const part = await ask(account, 'GET', `${audioPath}?format=opus`, undefined, { range: 'bytes=100-199' });
    const behind = await ask(account, 'GET', `${audioPath}?format=opus`, undefined, { range: 'bytes=9999999-' });
    const { json: link } = await ask(account, 'POST', `/v1/jobs/${job.id}/audio-link`);
    const opened = await ask(null, 'GET', `${link.url}?format=opus`);
    const wrong = await ask(account, 'GET', `${audioPath}?format=flac`);
    const ofOther = await ask(other, 'GET', `${audioPath}?format=opus`);

    const more = [];
    for (let read = 0; read < 9; read++) more.push((await ask(account, 'GET', `${audioPath}?format=opus`)).status);

    assert.deepEqual(more, Array(9).fill(200));
    assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'audio/ogg']);
    assert.match(whole.bytes.toString('latin1', 0, 40), /^OggS.*OpusHead/s);
    assert.match(whole.headers.get('content-disposition')!, /filename="job_\w+\.opus"/);
    assert.deepEqual([part.status, part.bytes.equals(whole.bytes.subarray(100, 200))], [206, true]);
    assert.equal(part.headers.get('content-range'), `bytes 100-199/${whole.bytes.length}`);
    assert.equal(part.headers.get('etag'), whole.headers.get('etag'));
    assert.deepEqual([behind.status, opened.bytes.equals(whole.bytes)], [416, true]);
    assert.deepEqual([wrong.status, ofOther.status], [400, 404]);
  });

  await t.test('a link opens it without a key, until it expires or the job is erased', async () => {
    const made = await ask(account, 'POST', `/v1/jobs/${job.id}/audio-link`, { expires_in: 2 });
    const long = await ask(account, 'POST', `/v1/jobs/${job.id}/audio-link`);
    const opened = await ask(null, 'GET', long.json.url, undefined, { range: 'bytes=0-9' });
    const forged = await ask(null, 'GET', `${long.json.url.slice(0, -1)}_`);
    const tooLong = await ask(account, 'POST', `/v1/jobs/${job.id}/audio-link`, { expires_in: 901 });
    const lifeMs = Date.parse(long.json.expires_at) - Date.now();

    assert.deepEqual([made.status, opened.status, opened.bytes.equals(AUDIO.subarray(0, 10))], [201, 206, true]);
    assert.deepEqual([forged.status, tooLong.status, tooLong.json.error.param], [404, 400, 'expires_in']);
    assert.ok(lifeMs > 890_000 && lifeMs <= 900_000, `${lifeMs} ms`);
    await until('the expiry', async () => (await ask(null, 'GET', made.json.url)).status === 404);
  });

  await t.test('a link ends with the key that made it, and opens nothing while the account is suspended', async () => {
    const made = async (fields: object) => (await ask(account, 'POST', '/v1/keys', fields)).json as ServiceAccount;
    const [revoked, kept] = [await made({}), await made({})];
    const expiring = await made({ expires_at: new Date(Date.now() + 3_000).toISOString() });
    const links: string[] = [];
    for (const who of [revoked, expiring, kept])
      links.push((await ask(who, 'POST', `/v1/jobs/${job.id}/audio-link`)).json.url);
    const open = async () => await Promise.all(links.map(async (url) => (await ask(null, 'GET', url)).status));
    const become = (action: 'suspend' | 'resume') =>
      ask(null, 'POST', `/admin/v1/accounts/${account.id}/${action}`, {}, operator);
    const operator = { authorization: `Bearer ${service.adminToken}` };
    const before = await open();

    await ask(account, 'DELETE', `/v1/keys/${revoked.id}`);
    await until('the expiry of the key', async () => (await open())[1] === 404);
    const ended = await open();
    const suspended = await become('suspend');
    const meanwhile = await open();
    await become('resume');

    assert.deepEqual(
      [before, ended],
      [
        [200, 200, 200],
        [404, 404, 200],
      ],
    );
    assert.deepEqual([suspended.status, meanwhile, await open()], [200, [404, 404, 404], [404, 404, 200]]);
  });

  await t.test('another account finds nothing', async () => {
    const asked = await Promise.all([
      ask(other, 'GET', audioPath),
      ask(other, 'POST', `/v1/jobs/${job.id}/audio-link`, {}),
      ask(other, 'GET', `/v1/jobs/${job.id}/peaks`),
      ask(other, 'POST', `/v1/jobs/${job.id}/retry`, {}),
      ask(other, 'PATCH', `/v1/jobs/${job.id}/transcript`, { segments: [{ index: 0, text: 'x' }] }),
    ]);

    assert.deepEqual([...new Set(asked.map(({ status }) => status))], [404]);
  });

  await t.test('the waveform shows where the sound is', async () => {
    const { status, json } = await ask(account, 'GET', `/v1/jobs/${job.id}/peaks`);
    const few = await ask(account, 'GET', `/v1/jobs/${job.id}/peaks?points=4`);
    const wrong = await ask(account, 'GET', `/v1/jobs/${job.id}/peaks?points=2001`);

    assert.equal(status, 200);
    assert.equal(json.duration_seconds, job.audio.duration_seconds);
    assert.ok(Math.abs(json.max.length - 100 * json.duration_seconds) <= 1, `${json.max.length} points`);
    assert.deepEqual([few.json.min.length, few.json.max.length], [4, 4]);
    assert.ok(Math.max(...json.max) > 10 && Math.min(...json.min) < -10);
    assert.equal(Math.max(...few.json.max), Math.max(...json.max));
    assert.deepEqual([wrong.status, wrong.json.error.param], [400, 'points']);
  });

  await t.test('a retry is a job of its own: options, cost, audio', async () => {
    const before = files();
    const balance = (await ask(account, 'GET', '/v1/balance')).json.amount;
    const key = { 'idempotency-key': 'retry-1' };
    const answer = await ask(account, 'POST', `/v1/jobs/${job.id}/retry`, { plan: 'lite' }, key);
    const again = await ask(account, 'POST', `/v1/jobs/${job.id}/retry`, { plan: 'lite' }, key);
    const retried = await ended(answer.json.id);
    const spent = balance - (await ask(account, 'GET', '/v1/balance')).json.amount;

    assert.deepEqual([answer.status, answer.headers.get('location')], [202, `/v1/jobs/${answer.json.id}`]);
    assert.deepEqual([again.json.id, again.headers.get('idempotent-replayed')], [answer.json.id, 'true']);
    assert.notEqual(retried.id, job.id);
    assert.deepEqual([retried.plan, retried.text, retried.segments], ['lite', WORDS, job.segments]);
    assert.deepEqual([retried.metadata, retried.audio, retried.options], [{ n: 1 }, job.audio, job.options]);
    assert.equal(spent.toFixed(3), retried.cost.toFixed(3));
    assert.equal(files(), before + 1);

    await ask(account, 'DELETE', `/v1/jobs/${retried.id}`);
    const kept = await ask(account, 'GET', audioPath);
    assert.deepEqual([kept.bytes.equals(AUDIO), files()], [true, before]);
    const third = await ask(account, 'POST', `/v1/jobs/${job.id}/retry`, {});
    assert.equal((await ended(third.json.id)).plan, 'pro');
  });

  await t.test('a retry that cannot be made is refused and leaves nothing', async () => {
    const poor = await service.account({ credits: 0.001 });
    const lite = await service.account({ plan: 'lite' });
    const before = files();
    const form = (who: ServiceAccount) => {
      const body = new FormData();
      body.append('file', new Blob([Uint8Array.from(AUDIO)]), 'a.wav');
      return fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers: { 'x-api-key': who.key }, body });
    };
    // biome-ignore lint/suspicious/noExplicitAny: a job
    const ofLite = (await (await form(lite)).json()) as any;
    const plan = await ask(lite, 'POST', `/v1/jobs/${ofLite.id}/retry`, { plan: 'pro' });
    const unknown = await ask(account, 'POST', `/v1/jobs/${job.id}/retry`, { plan: 'x' });
    const poorJob = await form(poor);

    assert.deepEqual([plan.status, plan.json.error.param], [403, 'plan']);
    assert.deepEqual([unknown.status, unknown.json.error.param], [400, 'plan']);
    assert.equal(poorJob.status, 402);
    assert.equal(files(), before + 1);
  });

  await t.test('an edited transcript is shown in all formats, the original beside it', async () => {
    const edit = (segments: object[]) => ask(account, 'PATCH', `/v1/jobs/${job.id}/transcript`, { segments });
    const read = async (query: string) =>
      String((await ask(account, 'GET', `/v1/jobs/${job.id}/transcript${query}`)).bytes);
    const original = await Promise.all(['json', 'text', 'srt', 'vtt'].map((format) => read(`?format=${format}`)));

    const edited = await edit([{ index: 0, text: 'Hello, quiet <place>.' }]);
    const shown = await Promise.all(['json', 'text', 'srt', 'vtt'].map((format) => read(`?format=${format}`)));
    const kept = await Promise.all(
      ['json', 'text', 'srt', 'vtt'].map((format) => read(`?format=${format}&version=original`)),
    );

    assert.deepEqual([edited.status, edited.json.version, edited.json.text], [200, 'edited', 'Hello, quiet <place>.']);
    assert.deepEqual(edited.json.segments[0].words, []);
    assert.deepEqual(JSON.parse(shown[0]!), edited.json);
    assert.equal(shown[1], 'Hello, quiet <place>.\n');
    assert.match(shown[2]!, /\nHello, quiet <place>\.\n/);
    assert.match(shown[3]!, /\nHello, quiet &lt;place&gt;\.\n/);
    assert.deepEqual(kept, original);
    assert.equal((await ask(account, 'GET', `/v1/jobs/${job.id}`)).json.text, WORDS);

    await edit([{ index: 0, text: null }]);
    assert.deepEqual(JSON.parse(await read('?format=json')), JSON.parse(original[0]!));
    const wrong = [
      [],
      [{ index: 1, text: 'x' }],
      [{ index: -1, text: 'x' }],
      [{ index: 0 }],
      [{ index: 0, text: 'x', b: 1 }],
    ];
    for (const segments of wrong) {
      const { status, json } = await edit(segments);
      assert.deepEqual(
        [JSON.stringify(segments), status, json.error.type],
        [JSON.stringify(segments), 400, 'invalid_request'],
      );
    }
  });

  await t.test('with the job, all of it is erased', async () => {
    const link = (await ask(account, 'POST', `/v1/jobs/${job.id}/audio-link`)).json.url;
    await ask(account, 'PATCH', `/v1/jobs/${job.id}/transcript`, { segments: [{ index: 0, text: 'secret edit' }] });
    const before = files();
    const erased = await ask(account, 'DELETE', `/v1/jobs/${job.id}`);
    const asked = await Promise.all([
      ask(account, 'GET', audioPath),
      ask(null, 'GET', link),
      ask(account, 'GET', `/v1/jobs/${job.id}/peaks`),
      ask(account, 'GET', `/v1/jobs/${job.id}/transcript`),
      ask(account, 'POST', `/v1/jobs/${job.id}/retry`, {}),
      ask(account, 'PATCH', `/v1/jobs/${job.id}/transcript`, { segments: [{ index: 0, text: 'x' }] }),
    ]);

    assert.equal(erased.status, 204);
    assert.deepEqual([...new Set(asked.map(({ status }) => status))], [404]);
    assert.equal(files(), before - 1);
  });
});
