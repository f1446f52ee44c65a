import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openClientClock } from '../../../../test/fixtures/client-clock.ts';
import {
  openScriptedServer,
  type ScriptedRequest,
  type ScriptedServer,
  type Step,
} from '../../../../test/fixtures/servers/scripted-server.ts';
import { ApiError, type AudioInput, Verbatim } from '../index.ts';

const HOUR_MS = 3_600_000;
const AUDIO = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251);
const JOB: Step = { status: 202, json: { id: 'job_1', status: 'queued', metadata: null } };

function clientOf(server: ScriptedServer) {
  return new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock: openClientClock(HOUR_MS, 60_000) });
}

/** The fields and the file of a form, read by another parser than ours. */
async function readForm({ headers, body }: ScriptedRequest) {
  const form = await new Response(body as Uint8Array<ArrayBuffer>, {
    headers: { 'content-type': headers['content-type']! },
  }).formData();
  const file = form.get('file') as File;
  const fields = [...form].filter(([name]) => name !== 'file');
  return { fields, name: file.name, bytes: new Uint8Array(await file.arrayBuffer()), names: [...form.keys()] };
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.slice(at, at + 65_536);
}

const FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'upload-'));
const FILE = path.join(FOLDER, 'a call.wav');
fs.writeFileSync(FILE, AUDIO);
process.on('exit', () => fs.rmSync(FOLDER, { recursive: true, force: true }));

const INPUTS: [what: string, input: () => AudioInput, name: string, isRepeatable: boolean][] = [
  ['a path', () => ({ path: FILE }), 'a call.wav', true],
  ['a File', () => new File([AUDIO], 'ü "1"\r\n.wav'), 'ü "1"\r\n.wav', true],
  ['a Blob', () => new Blob([AUDIO]), 'audio', true],
  ['bytes', () => AUDIO, 'audio', true],
  ['an ArrayBuffer', () => AUDIO.buffer, 'audio', true],
  ['a function', () => () => new File([AUDIO], 'b.wav'), 'b.wav', true],
  ['a function of a stream', () => async () => ({ stream: inChunks(AUDIO), name: 'c.wav' }), 'c.wav', true],
  ['an iterable', () => ({ stream: inChunks(AUDIO), name: 'd.wav' }), 'd.wav', false],
  ['a stream', () => ({ stream: new Blob([AUDIO]).stream(), name: 'e.wav' }), 'e.wav', false],
  ['a Response', () => new Response(AUDIO), 'audio', false],
];

for (const [what, input, name, isRepeatable] of INPUTS) {
  test(`${what} arrives whole, with its name, after the fields`, async () => {
    await using server = await openScriptedServer([JOB]);

    await clientOf(server).jobs.create(input(), { plan: 'pro' });

    const form = await readForm(server.requests[0]!);
    assert.equal(form.name, name);
    assert.deepEqual(Buffer.from(form.bytes).equals(AUDIO), true);
    assert.deepEqual(form.names, ['plan', 'async', 'file']);
  });

  test(`${what} is ${isRepeatable ? 'sent again after a cut, with the same key' : 'sent once'}`, async () => {
    await using server = await openScriptedServer(['cut', JOB]);
    const creating = clientOf(server).jobs.create(input());

    if (!isRepeatable) {
      await assert.rejects(creating, /stream can be read only once/);
      assert.equal(server.requests.length, 1);
      return;
    }
    assert.equal((await creating).id, 'job_1');
    const [first, again] = server.requests;
    assert.deepEqual(again!.headers['idempotency-key'], first!.headers['idempotency-key']);
    assert.deepEqual(Buffer.from((await readForm(again!)).bytes).equals(AUDIO), true);
  });

  test(`the progress of ${what} is reported up to 1`, async () => {
    await using server = await openScriptedServer([JOB]);
    const parts: number[] = [];

    await clientOf(server).jobs.create(input(), {}, { onUpload: (part) => parts.push(part) });

    assert.equal(parts.at(-1), 1);
    assert.equal(new Set(parts).size, parts.length);
    assert.deepEqual(
      parts,
      parts.toSorted((left, right) => left - right),
    );
    assert.equal(Buffer.from((await readForm(server.requests[0]!)).bytes).equals(AUDIO), true);
  });
}

test('parameters become fields as the API reads them', async () => {
  await using server = await openScriptedServer([JOB]);

  await clientOf(server).jobs.create(AUDIO, {
    metadataText: '{"n": 12345678901234567890,\n "s": "\\u0000"}',
    keywords: ['Ada', 'Grace Hopper'],
    tags: [],
    replacements: [{ from: 'a', to: 'b' }],
    diarize: true,
    speakers: 2,
    language: undefined,
  });

  assert.deepEqual((await readForm(server.requests[0]!)).fields, [
    ['keywords', 'Ada'],
    ['keywords', 'Grace Hopper'],
    ['replacements', '[{"from":"a","to":"b"}]'],
    ['diarize', 'true'],
    ['speakers', '2'],
    ['metadata', '{"n": 12345678901234567890,\n "s": "\\u0000"}'],
    ['async', 'true'],
  ]);
});

for (const [metadata, text] of [
  [{ order: 42 }, '{"order":42}'],
  ['text', '"text"'],
  [null, 'null'],
] as const) {
  test(`metadata ${text} is sent as JSON`, async () => {
    await using server = await openScriptedServer([JOB]);

    await clientOf(server).jobs.create(AUDIO, { metadata });

    assert.deepEqual((await readForm(server.requests[0]!)).fields[0], ['metadata', text]);
  });
}

test('audio that the service fetches is a JSON body', async () => {
  await using server = await openScriptedServer([JOB]);
  const headers = { Authorization: 'Bearer 1' };

  await clientOf(server).jobs.create({ url: 'https://example.com/a.mp3', headers }, { metadata: 1, keywords: ['a'] });

  const { headers: sent, body } = server.requests[0]!;
  assert.equal(sent['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(String(body)), {
    keywords: ['a'],
    metadata: '1',
    async: true,
    audio_url: 'https://example.com/a.mp3',
    audio_url_headers: headers,
  });
});

test('the metadata of a job keeps its digits', async () => {
  const text = '{"id":"job_1","status":"queued","metadata":{"n": 12345678901234567890}}';
  await using server = await openScriptedServer([{ status: 202, text }]);

  const job = await clientOf(server).jobs.get('job_1');

  assert.equal(job.metadataText, '{"n": 12345678901234567890}');
});

test('a file that is missing, and a Response with an error, are mistakes of the caller', async () => {
  await using server = await openScriptedServer([JOB]);
  const { jobs } = clientOf(server);

  await assert.rejects(jobs.create({ path: path.join(FOLDER, 'none.wav') }), (error: NodeJS.ErrnoException) => {
    assert.ok(!(error instanceof ApiError));
    assert.equal(error.code, 'ENOENT');
    return error.message.includes(path.join(FOLDER, 'none.wav'));
  });
  await assert.rejects(jobs.create({ path: FOLDER }), { message: `${FOLDER} is a folder, not a file.` });
  await assert.rejects(jobs.create(new Response('gone', { status: 404 })), /status 404/);
  await assert.rejects(jobs.create({} as AudioInput), TypeError);
  assert.equal(server.requests.length, 0);
});
