import assert from 'node:assert/strict';
import test from 'node:test';
import { MEDIA_NAME } from './media-names.ts';

test('names of audio and video are known by their endings, in any case', () => {
  const media = ['call.wav', 'TALK.MP3', 'a.b.m4a', 'tv.ts', 'cam.m2ts', 'old.flv', 'long.w64', 'unix.au', 'voice.spx'];
  const more = [
    'page.weba',
    'radio.mp2',
    'phone.3gp',
    'phone.3g2',
    'line.gsm',
    'memo.qta',
    'x.aif',
    'x.aiff',
    'x.mpeg',
    'talk.mpga',
    'ring.m4r',
    'x.aifc',
    'x.snd',
    'phone.awb',
    'x.eac3',
    'x.asf',
    'x.f4v',
    'x.qt',
    'DVD.VOB',
    'x.ogv',
    '00001.MTS',
    'x.m2t',
  ];
  const others = ['notes.txt', 'wav', 'call.wav.txt', 'call.mp3.failed.txt', 'mp3.zip', 'x.tsx'];

  assert.deepEqual(
    [...media, ...more].filter((name) => !MEDIA_NAME.test(name)),
    [],
  );
  assert.deepEqual(
    others.filter((name) => MEDIA_NAME.test(name)),
    [],
  );
});
