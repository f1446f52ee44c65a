import assert from 'node:assert/strict';
import test from 'node:test';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { CLOSE, type OpenSocket } from '../../http/websocket/open-socket.ts';
import { type RealtimeApi, type RealtimeCaller, RealtimeConnection } from './realtime-connection.ts';
import { INITIAL_SETTINGS } from './session-settings.ts';

const TEXTS = 'session.audio.input.transcription';

/** A connection whose client sends no audio. */
function openConnection() {
  const clock = openManualClock();
  // biome-ignore lint/suspicious/noExplicitAny: events of many types
  const events: any[] = [];
  const seen = { closeCodes: [] as number[], charged: 0, left: 0 };
  const socket = {
    send: (event: object) => void events.push(event),
    close: (code: number) => void seen.closeCodes.push(code),
    charge: (messages: number) => void (seen.charged += messages),
  };
  const caller = { settings: INITIAL_SETTINGS, leave: () => void (seen.left += 1) } as Partial<RealtimeCaller>;
  const connection = new RealtimeConnection(
    { clock, config: { maxAudioSeconds: 60 } } as unknown as RealtimeApi,
    socket as Partial<OpenSocket> as OpenSocket,
    caller as RealtimeCaller,
  );
  const update = (transcription: object) =>
    connection.text(JSON.stringify({ type: 'session.update', session: { audio: { input: { transcription } } } }));
  const errors = () => events.filter(({ type }) => type === 'error').map(({ error }) => error);
  return { clock, connection, events, seen, update, errors };
}

test('a connection without audio is closed after 60 s, whatever else it sends', async () => {
  const { clock, connection, seen, update } = openConnection();
  for (let second = 0; second < 59; second++) {
    update({ language: 'en' });
    await clock.advance(1_000);
  }
  const before = [...seen.closeCodes];
  await clock.advance(1_000);
  connection.closed();

  assert.deepEqual([before, seen.closeCodes, seen.left], [[], [CLOSE.refused], 1]);
});

test('texts have the limits of POST /v1/transcribe, and what is over them changes nothing', () => {
  const { events, update, errors } = openConnection();
  update({ prompt: 'kept', keywords: ['kept'] });
  for (const [texts, param] of [
    [{ prompt: 'x'.repeat(1_001) }, 'prompt'],
    [{ keywords: ['x'.repeat(51)] }, 'keywords'],
    [{ keywords: Array(101).fill('x') }, 'keywords'],
    [{ keywords: ['A'.repeat(60_000)] }, 'keywords'],
  ] as const) {
    update(texts);
    assert.deepEqual([errors().at(-1).param, errors().at(-1).code], [`${TEXTS}.${param}`, 'invalid_value']);
  }
  update({ language: 'en' });

  const { session } = events.at(-1);
  assert.deepEqual(session.audio.input.transcription, { model: null, language: 'en', prompt: 'kept' });
});

test('a message of more than 64 KiB beside its audio is refused, and each error costs as ten messages do', () => {
  const { connection, seen, errors } = openConnection();
  connection.text(`{"type":"x","a":[${'{},'.repeat(1_390_000)}{}]}`);
  connection.text('{}');

  assert.deepEqual(
    errors().map(({ message }) => message),
    [
      'A message has at most 65536 characters beside its audio.',
      'An event without a type is not offered for transcription.',
    ],
  );
  assert.equal(seen.charged, 20);
});

test('the hundredth error within a minute closes the connection', async () => {
  const { clock, connection, seen, update } = openConnection();
  const fail = (times: number) => {
    for (let time = 0; time < times; time++) connection.text('{}');
  };
  fail(99);
  update({ language: 'en' });
  await clock.advance(59_000);
  const before = [...seen.closeCodes];
  fail(1);
  connection.closed();

  assert.deepEqual([before, seen.closeCodes], [[], [CLOSE.refused]]);
});
