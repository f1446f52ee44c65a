import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import {
  channelsWav,
  openTestFolder,
  stereoWav,
  type TestFolder,
  TONE_MODEL,
  toneWav,
} from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openService, type ServiceAccount, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { inEvent } from '../fixtures/webhooks/job-in-event.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;
type Fields = Record<string, string>;

const LEFT = 'good morning how are you';
const RIGHT = 'very well thank you';

let service: TestService;
let receiver: Receiver;
let folder: TestFolder;
let account: ServiceAccount;

before(async () => {
  receiver = await openReceiver();
  folder = await openTestFolder();
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  service = await openService(
    {
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      RATE_LIMIT_TRANSCRIBE: 'off',
    },
    dataDir,
  );
  account = await service.account({ plan: 'lite', credits: 100 });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  await Promise.all([receiver[Symbol.asyncDispose](), folder[Symbol.asyncDispose]()]);
});

async function call(method: string, route: string, body?: FormData | object, { key } = account) {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: (text.startsWith('{') ? JSON.parse(text) : null) as Json };
}

async function transcribe(audio: Buffer, fields: Fields, from = account) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(audio)]), 'call');
  return await call('POST', '/v1/transcribe', form, from);
}

const stereo = channelsWav([toneSpeech(LEFT), toneSpeech(RIGHT)]);
const encoded = async (name: string, ...args: string[]) => readFileSync(await folder.encode(name, stereo, ...args));
/** The text of each channel up to the last that has any. */
function byChannel(segments: { channel: number; text: string }[]): string[] {
  const count = 1 + Math.max(...segments.map(({ channel }) => channel));
  const textOf = (own: number) => segments.filter(({ channel }) => channel === own).map(({ text }) => text);
  return Array.from({ length: count }, (_, channel) => textOf(channel).join(' '));
}

const FORMATS: [name: string, ...args: string[]][] = [
  ['a.wav', '-c:a', 'copy'],
  ['a.mp3', '-b:a', '256k', '-joint_stereo', '0'],
  ['a.m4a', '-b:a', '256k'],
  ['a.mkv', '-c:a', 'flac'],
];

for (const [name, ...args] of FORMATS) {
  test(`each channel of a ${name.slice(2)} file is transcribed to the letter, and charged`, async () => {
    const audio = await encoded(name, ...args);
    const { amount } = (await call('GET', '/v1/balance')).json;

    const { status, json: job } = await transcribe(audio, { multichannel: 'true', timestamps: 'word' });

    assert.equal(status, 200, JSON.stringify(job));
    assert.deepEqual(byChannel(job.segments), [LEFT, RIGHT]);
    for (const { channel, words } of job.segments) {
      assert.ok(words.every((word: Json) => word.channel === channel));
    }
    const order = job.segments.map(({ start, channel }: Json) => [start, channel]);
    assert.deepEqual(
      order,
      order.toSorted(([a, i]: number[], [b, j]: number[]) => a! - b! || i! - j!),
    );
    assert.equal(job.text, job.segments.map(({ text }: Json) => text).join('\n'));
    assert.deepEqual([job.audio.channels, job.audio.tracks.length, job.options.multichannel], [2, 1, true]);
    assert.deepEqual(job.warnings, []);
    const balance = (await call('GET', '/v1/balance')).json;
    assert.ok(Math.abs(job.cost - (2 * job.audio.duration_seconds) / 60) < 1e-6, `${job.cost}`);
    assert.deepEqual([balance.held, Math.round((amount - balance.amount) * 1e6)], [0, Math.round(job.cost * 1e6)]);
  });
}

test('an asynchronous job has the same segments in its webhook and as captions', async () => {
  const hook = { url: receiver.url, events: ['transcription.completed'] };
  const { secret, id: webhookId } = (await call('POST', '/v1/webhooks', hook)).json;

  const { json: accepted, status } = await transcribe(stereo, { multichannel: '1', async: 'true' });
  const { headers, body } = await receiver.waitFor(1);
  const event = verifyDelivery({ secret, headers, body }) as Json;
  const { json: job } = await call('GET', `/v1/jobs/${accepted.id}`);
  await call('DELETE', `/v1/webhooks/${webhookId}`);

  assert.deepEqual([status, accepted.audio.channels, job.status], [202, 2, 'completed']);
  assert.deepEqual(event.data.job, inEvent(job));
  assert.deepEqual(byChannel(job.segments), [LEFT, RIGHT]);
  const transcript = async (query: string) =>
    (await call('GET', `/v1/jobs/${accepted.id}/transcript?format=${query}`)).text;
  assert.equal(await transcript('text'), `${job.text}\n`);
  assert.match(
    await transcript('srt&speakers=true'),
    /^1\n.{29}\nChannel 1: good morning how are you\n\n2\n.{29}\nChannel 2: /,
  );
  assert.match(
    await transcript('vtt&speakers=true'),
    /^WEBVTT\n\n.{29}\n<v Channel 1>good morning.*\n\n.{29}\n<v Channel 2>/,
  );
  assert.doesNotMatch(await transcript('srt'), /Channel/);
  assert.deepEqual((JSON.parse(await transcript('json')) as Json).segments, job.segments);
});

test('equal channels are transcribed and charged once; silent ones are charged as silence', async () => {
  const silence = new Int16Array(16_000);
  const speech = toneSpeech(LEFT);
  const audio = channelsWav([speech, silence, speech, toneSpeech(RIGHT), silence]);

  const { json: job } = await transcribe(audio, { multichannel: 'true' });

  assert.deepEqual(byChannel(job.segments), [LEFT, '', '', RIGHT]);
  assert.deepEqual(
    job.warnings.map(({ code }: Json) => code),
    ['duplicate_channels', 'silent_channel'],
  );
  assert.ok(Math.abs(job.cost - (3 * job.audio.duration_seconds) / 60) < 1e-6, `${job.cost}`);
});

test('a file with the same sound on both channels costs what it costs without multichannel, through a lossy codec too', async () => {
  const mp3 = readFileSync(
    await folder.encode('same.mp3', stereoWav(toneSpeech(LEFT)), '-b:a', '64k', '-joint_stereo', '0'),
  );

  const { json: mixed } = await transcribe(mp3, {});
  const { json: job } = await transcribe(mp3, { multichannel: 'true' });

  assert.deepEqual([job.text, job.cost, byChannel(job.segments)], [mixed.text, mixed.cost, [LEFT]]);
  assert.deepEqual(
    job.warnings.map(({ code }: Json) => code),
    ['duplicate_channels'],
  );
  assert.ok(mixed.segments.every((segment: Json) => !('channel' in segment)));
});

test('a mono file is transcribed as without multichannel, on channel 0', async () => {
  const { json: job } = await transcribe(toneWav(LEFT), { multichannel: 'true' });

  assert.deepEqual([job.text, job.warnings, byChannel(job.segments)], [LEFT, [], [LEFT]]);
  assert.ok(Math.abs(job.cost - job.audio.duration_seconds / 60) < 1e-6);
});

const TRACKS = [
  { text: 'the first track', tags: ['language=eng'] },
  { text: 'die zweite spur', tags: ['language=ger', 'title=Kommentar'] },
  { text: 'no name at all', tags: ['language=und'] },
];

async function tracksFile(name: string): Promise<Buffer> {
  const speech = channelsWav(TRACKS.map(({ text }) => toneSpeech(text)));
  const split = `[0:a]asplit=3[s0][s1][s2];${[0, 1, 2].map((i) => `[s${i}]pan=1c|c0=c${i}[t${i}]`).join(';')}`;
  const output = TRACKS.flatMap(({ tags }, i) => [
    '-map',
    `[t${i}]`,
    ...tags.flatMap((tag) => [`-metadata:s:a:${i}`, tag]),
  ]);
  return readFileSync(await folder.encode(name, speech, '-filter_complex', split, ...output, '-c:a', 'aac'));
}

for (const name of ['tracks.mkv', 'tracks.m4a']) {
  test(`the audio track of ${name} is chosen by index or language`, async () => {
    const audio = await tracksFile(name);
    const chosen: [audioTrack: string, track: number][] = [
      ['0', 0],
      ['1', 1],
      ['2', 2],
      ['de', 1],
      ['ger', 1],
      ['en', 0],
    ];

    for (const [audioTrack, track] of chosen) {
      const { json: job } = await transcribe(audio, { audio_track: audioTrack });

      assert.equal(job.text, TRACKS[track]!.text, audioTrack);
      assert.deepEqual([job.warnings, job.audio.channels], [[], 1]);
      assert.deepEqual(
        job.audio.tracks.map(({ index, language }: Json) => [index, language]),
        [
          [0, 'en'],
          [1, 'de'],
          [2, null],
        ],
      );
    }
    const { json: first } = await transcribe(audio, {});
    assert.equal(first.text, TRACKS[0]!.text);
    assert.deepEqual(
      first.warnings.map(({ code }: Json) => code),
      ['more_audio_tracks'],
    );
  });
}

test('multichannel counts the channels of the chosen track', async () => {
  const args = [
    '-filter_complex',
    '[0:a]asplit[m][s];[m]pan=1c|c0=c1[one]',
    '-map',
    '[one]',
    '-map',
    '[s]',
    '-c:a',
    'flac',
  ];
  const audio = await encoded('mono-and-stereo.mka', ...args);

  const { json: mono } = await transcribe(audio, { multichannel: 'true', audio_track: '0' });
  const { json: both } = await transcribe(audio, { multichannel: 'true', audio_track: '1' });

  assert.deepEqual([mono.audio.channels, byChannel(mono.segments)], [1, [RIGHT]]);
  assert.deepEqual([both.audio.channels, byChannel(both.segments)], [2, [LEFT, RIGHT]]);
  assert.ok(Math.abs(both.cost - 2 * mono.cost) < 1e-6);
});

test('bad values are a 400, a track that the file does not have a 422; nothing is stored', async () => {
  const jobs = async () => (await call('GET', '/v1/jobs?limit=100')).json.data.length;
  const count = await jobs();
  const thousand = channelsWav(Array.from({ length: 1_000 }, () => new Int16Array(160)));
  const refused: [audio: Buffer, fields: Fields, status: number, param: string | undefined, says: RegExp][] = [
    [stereo, { multichannel: 'yes' }, 400, 'multichannel', /true, false, 1 or 0/],
    [stereo, { audio_track: '-1' }, 400, 'audio_track', /an index, .* or a language/],
    [stereo, { audio_track: 'the first one' }, 400, 'audio_track', /an index/],
    [stereo, { audio_track: '' }, 400, 'audio_track', /an index/],
    [stereo, { audio_track: '1' }, 422, 'audio_track', /no audio track 1\. Its audio tracks are: 0\./],
    [toneWav('a'), { audio_track: 'de' }, 422, 'audio_track', /no audio track de/],
    [await tracksFile('three.mkv'), { audio_track: 'fr' }, 422, 'audio_track', /are: 0 \(en\), 1 \(de\), 2\./],
    [thousand, { multichannel: 'true' }, 422, 'file', /./],
    [
      channelsWav(Array.from({ length: 9 }, () => toneSpeech('a'))),
      { multichannel: 'true' },
      422,
      'file',
      /at most 8 channels/,
    ],
  ];

  for (const [audio, fields, status, param, says] of refused) {
    const { status: answered, json } = await transcribe(audio, fields);

    assert.deepEqual([answered, json.error.param], [status, param], JSON.stringify(fields));
    assert.match(json.error.message, says);
  }
  assert.equal(await jobs(), count);
});

test('a balance that covers one channel but not two is a 402', async () => {
  const seconds = toneSpeech(LEFT).length / 16_000;
  const poor = await service.account({ plan: 'lite', credits: (1.5 * seconds) / 60 });

  const { status, json } = await transcribe(stereo, { multichannel: 'true' }, poor);
  const { status: mixed } = await transcribe(stereo, {}, poor);

  assert.deepEqual([status, json.error.type, mixed], [402, 'insufficient_balance', 200]);
  assert.ok(Math.abs(json.needed_credits - (2 * seconds) / 60) < 1e-3, `${json.needed_credits}`);
});

test("an erased job keeps nothing of its tracks in its event, and is another account's 404", async () => {
  const { json: job } = await transcribe(await tracksFile('erased.mkv'), { audio_track: 'de' });
  const other = await service.account();

  assert.equal((await call('GET', `/v1/jobs/${job.id}`, undefined, other)).status, 404);
  assert.equal((await call('DELETE', `/v1/jobs/${job.id}`)).status, 204);

  const { data: events } = (await call('GET', '/v1/events')).json;
  const { json: event } = await call('GET', `/v1/events/${events[0].id}`);
  const { text } = await call('GET', `/v1/events/${events[0].id}`);
  assert.ok(text.includes(job.id) && !text.includes('Kommentar') && !text.includes('spur'), text);
  assert.ok(event !== null);
});
