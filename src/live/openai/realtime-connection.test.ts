import assert from 'node:assert/strict';
import test from 'node:test';
import { openHost } from '../../../test/fixtures/begun-session.ts';
import { callerOf, TEST_KEY_ID } from '../../../test/fixtures/caller.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../../test/fixtures/live.ts';
import { openPlace } from '../../../test/fixtures/live-place.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { UNCOUNTED_LIVE } from '../../../test/fixtures/uncounted.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { LiveEngine } from '../../engines/live/live-engine.ts';
import type { OpenSocket } from '../../http/websocket/open-socket.ts';
import { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { Slices } from '../../platform/slices.ts';
import type { HostedUser, Taken } from '../live-host.ts';
import { LiveJournal } from '../session/journal.ts';
import { type LiveClaim, RunningSession } from '../session/running-session.ts';
import { takeOverSession } from '../session/take-over.ts';
import { type RealtimeApi, RealtimeConnection } from './realtime-connection.ts';
import { INITIAL_SETTINGS } from './session-settings.ts';

const SECOND_BYTES = 32_000;
const HELD_SECONDS = 60;
const COMMITTED = 'input_audio_buffer.committed';
const FAILED = 'conversation.item.input_audio_transcription.failed';
const CLEARED = 'input_audio_buffer.cleared';

type Options = {
  plan?: 'lite' | 'pro';
  /** Whether the engine fails, always. */
  fails?: boolean;
  /** A statement that changes the account or the key between the handshake and the audio. */
  change?: string;
};

/** A connection whose client ends the turns, and which has sent audio. */
async function openConnection(audio: Buffer, { plan = 'lite', fails = false, change = 'select' }: Options = {}) {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '0' });
  const { account } = callerOf(await fixture.account({ plan, credits: 10 }));
  const parts = { ...fixture, ...UNCOUNTED_LIVE };
  const leases = new LeaseKeeper<LiveClaim>(parts, async (claims) => claims.map(({ id }) => id));
  const runtime = { ...parts, leases, ends: openSemaphore(1), slices: new Slices(), journal: new LiveJournal(parts) };
  const engine = { name: 'stub', open: () => openStubDecoder(() => fails) } as Partial<LiveEngine> as LiveEngine;
  const begun = openHost(fixture);
  const host = {
    create: begun.create.bind(begun),
    async take(key: Parameters<typeof takeOverSession>[1]) {
      const taken = await takeOverSession(fixture.db, key, 'node_test/http');
      return { ...taken, place: openPlace(engine) };
    },
    run: (taken: Taken, user: HostedUser) => new RunningSession(runtime, taken, user),
  };
  // biome-ignore lint/suspicious/noExplicitAny: events of many types
  const events: any[] = [];
  const ended = Promise.withResolvers<void>();
  const socket = {
    isPaused: false,
    send: (event: object) => void events.push(event),
    close: () => ended.resolve(),
    charge: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
  };
  const leave = () => undefined;
  const turns = { silenceMs: null, turnDetection: null };
  const format = { encoding: 'pcm_s16le', sampleRate: 16_000 } as const;
  const settings = { ...INITIAL_SETTINGS, ...turns, format };
  const caller = { account, keyId: TEST_KEY_ID, settings, requestId: 'req_x', traceparent: null, leave };
  const api = { ...runtime, host } as unknown as RealtimeApi;
  const connection = new RealtimeConnection(api, socket as Partial<OpenSocket> as OpenSocket, caller);
  const append = (pcm: Buffer) =>
    connection.text(JSON.stringify({ type: 'input_audio_buffer.append', audio: pcm.toString('base64') }));
  await fixture.db.run({ text: change });
  append(audio);
  const typesOf = (...types: string[]) => events.map(({ type }) => type).filter((type) => types.includes(type));
  return {
    events,
    typesOf,
    append,
    jobs: () => fixture.db.rows<{ plan: string }>({ text: 'select plan from jobs' }),
    /** What the jobs have cost, and what is held on the account. */
    charged: () =>
      fixture.db.rows({
        text: `select state, cost_units::integer as cost, accounts.held::integer as held
          from jobs join accounts on accounts.id = jobs.account_id`,
      }),
    closed: ended.promise,
    say: (type: unknown) => connection.text(JSON.stringify({ type })),
    async [Symbol.asyncDispose]() {
      connection.closed();
      await ended.promise;
      await leases.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

/** Silence, and speech from a second to the end. */
function speechFrom(second: number, seconds: number): Buffer {
  const audio = Buffer.alloc(seconds * SECOND_BYTES);
  audio.set(noisySpeech(randomFrom(3), seconds - second), second * SECOND_BYTES);
  return audio;
}

test('a commit ends the speech before it, also of audio that is not paid for yet', async () => {
  await using client = await openConnection(speechFrom(HELD_SECONDS + 1, HELD_SECONDS + 3));
  client.say('input_audio_buffer.commit');

  await until('the item', () => client.typesOf(COMMITTED).length > 0);
  await until('its text', () => client.events.some(({ transcript }) => transcript !== undefined));

  assert.deepEqual(client.typesOf(COMMITTED), [COMMITTED]);
  assert.match(client.events.find(({ transcript }) => transcript !== undefined).transcript, /^\w{6}/);
});

test('a clear gives up the speech before it, also of audio that is not paid for yet', async () => {
  await using client = await openConnection(speechFrom(HELD_SECONDS - 29, HELD_SECONDS + 3));
  client.say('input_audio_buffer.clear');
  await until('the answer', () => client.typesOf(CLEARED).length > 0);
  client.say('input_audio_buffer.commit');
  await until('the second item', () => client.typesOf(COMMITTED).length > 1);

  assert.deepEqual(client.typesOf(COMMITTED, CLEARED), [COMMITTED, CLEARED, COMMITTED]);
});

test('each item whose engine failed is named, also when several fail at once', async () => {
  const speech = speechFrom(0, 2);
  await using client = await openConnection(speech, { fails: true });
  client.say('input_audio_buffer.commit');
  client.append(speech);
  client.say('input_audio_buffer.commit');

  await until('the failures', () => client.typesOf(FAILED).length === 2);

  const idsOf = (wanted: string) => client.events.flatMap(({ type, item_id }) => (type === wanted ? [item_id] : []));
  assert.deepEqual(new Set(idsOf(FAILED)), new Set(idsOf(COMMITTED)));
});

test('an event whose type is no text is answered with an error', async () => {
  await using client = await openConnection(speechFrom(0, 1));

  for (const type of [undefined, null, 7, ['a'], { toString: null }]) client.say(type);

  const errors = client.events.filter(({ type }) => type === 'error').map(({ error }) => error.message);
  assert.deepEqual(errors, Array(5).fill('An event without a type is not offered for transcription.'));
});

const REFUSED: [what: string, change: string, code: string][] = [
  ['whose account is suspended', 'update accounts set suspended_at = now()', 'suspended'],
  ['whose account is erased', 'update accounts set deleted_at = now()', 'unauthenticated'],
  ['whose key is revoked', 'delete from api_keys', 'unauthenticated'],
  ['whose key has lost its scope', `update api_keys set scopes = '{jobs:read}'`, 'unauthenticated'],
];

for (const [what, change, code] of REFUSED) {
  test(`a connection ${what} between the handshake and the audio is closed, and makes no job`, async () => {
    await using client = await openConnection(speechFrom(0, 1), { change });

    await client.closed;

    assert.deepEqual(
      client.events.flatMap(({ error }) => (error ? [error.code] : [])),
      [code],
    );
    assert.deepEqual(await client.jobs(), []);
  });
}

test('audio is transcribed on the plan that the account has by then', async () => {
  await using client = await openConnection(speechFrom(0, 1), {
    plan: 'pro',
    change: `update accounts set plan = 'lite'`,
  });
  await until('the job', () => client.typesOf('verbatim.job').length > 0);

  assert.deepEqual(await client.jobs(), [{ plan: 'lite' }]);
});

test('a file that is sent as samples is an error that names it, and costs nothing', async () => {
  await using client = await openConnection(Buffer.concat([Buffer.from('fLaC\0'), Buffer.alloc(SECOND_BYTES, 0x5a)]));

  await client.closed;

  const { error } = client.events.find(({ type }) => type === 'error');
  assert.equal(error.code, 'unprocessable_audio');
  assert.match(error.message, /begins as a FLAC file does, .* 16000 Hz, one channel\. Send these,/);
  assert.deepEqual(await client.charged(), [{ state: 'failed', cost: 0, held: 0 }]);
});
