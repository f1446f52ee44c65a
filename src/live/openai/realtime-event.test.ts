import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { readRealtimeEvent } from './realtime-event.ts';

const MIB = 2 ** 20;
const TOO_LONG = { bad: 'A message has at most 65536 characters beside its audio.', param: null };

test('the audio of a message is taken out, whatever stands before and after it', () => {
  const audio = Buffer.alloc(3 * MIB, 250).toString('base64');
  for (const before of ['', ' "event_id" : "a\\"b\\\\" ,', '"n":[1,{"audio":"inner"}],"t":null,']) {
    for (const after of ['', ',"type":"input_audio_buffer.append"', ' , "z": {"audio": ["x"]} ']) {
      const json = `{${before}"audio"`;
      const expected = JSON.parse(`${json}:""${after}}`);
      for (const colon of [':', ' : ', '\n:\t']) {
        assert.deepEqual(readRealtimeEvent(`${json}${colon}"${audio}"${after}}`), { fields: expected, audio });
      }
    }
  }
});

test('audio that is not the top-level string of a message stays where it is', () => {
  for (const fields of [
    { audio: 7 },
    { audio: ['x'] },
    { session: { audio: { input: {} } } },
    { session: { audio: 'x' } },
    { a: 'audio', b: 'x' },
    { list: ['audio', 'x'], deep: [{ audio: 'x' }] },
  ]) {
    assert.deepEqual(readRealtimeEvent(JSON.stringify(fields)), { fields, audio: null });
  }
});

test('base64 whose characters are escaped is read', () => {
  const escapes = { '{"audio":"a\\/b\\u002B\\u002fc="}': 'a/b+/c=', '{"audio":"ab\\n"}': 'ab\n' };
  for (const [text, audio] of Object.entries(escapes)) {
    assert.deepEqual(readRealtimeEvent(text), { fields: { audio: '' }, audio });
  }
});

test('what is no JSON object is refused', () => {
  for (const text of [
    '',
    '[]',
    '"audio"',
    'null',
    '{',
    '{"audio":"a',
    '{"audio":"a"',
    '{"audio":"\\"}',
    '{audio:"a"}',
  ]) {
    assert.ok('bad' in readRealtimeEvent(text), text);
  }
});

test('a message of 4 MiB that is not audio is refused after 64 KiB', () => {
  for (const text of [
    `{"type":"x","a":[${'{},'.repeat(1.3 * MIB)}{}]}`,
    `{"a":${'['.repeat(2 * MIB)}`,
    `{"a":"${'x'.repeat(4 * MIB)}"}`,
    `{"a":"${'\\'.repeat(4 * MIB)}"}`,
    `{"a":"${'\\"'.repeat(2 * MIB)}"}`,
    `{${'"audio":"",'.repeat(380_000)}"a":1}`,
    `{"audio":"AAAA","a":"${'x'.repeat(70_000)}"}`,
  ]) {
    assert.deepEqual(readRealtimeEvent(text), TOO_LONG, text.slice(0, 30));
  }
});

test('any message is read as JSON.parse reads it', () => {
  const random = randomFrom(31);
  const texts = ['audio', 'a"b', '\\', '\\"', 'x', '', '{', ']', ':', ','];
  const value = (depth: number): unknown => {
    const kind = random.integer(depth > 2 ? 2 : 4);
    if (kind === 0) return random.pick(texts);
    if (kind === 1) return random.pick([null, 1, true]);
    const length = random.integer(4);
    if (kind === 2) return Array.from({ length }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length }, () => [random.pick(texts), value(depth + 1)]));
  };
  for (let round = 0; round < 3_000; round++) {
    const fields = { type: 'x', [random.pick(texts)]: value(1), [random.pick(texts)]: value(1) };
    const audio = 'audio' in fields && typeof fields['audio'] === 'string' ? fields['audio'] : null;
    const expected = { fields: audio === null ? fields : { ...fields, audio: '' }, audio };
    assert.deepEqual(readRealtimeEvent(JSON.stringify(fields, null, random.integer(3))), expected);
  }
});
