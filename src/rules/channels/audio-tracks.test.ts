import assert from 'node:assert/strict';
import test from 'node:test';
import { audioTrack, findTrack, listTracks, readTrackChoice, trackIndex } from './audio-tracks.ts';

const track = (index: number, language?: string, title?: string) =>
  audioTrack(index, {
    ...(language && { language }),
    ...(title && { title }),
    codec: 'aac',
    channels: 2,
    isDefault: index === 1,
  });

test('the language of a track is a canonical tag, its title a label', () => {
  assert.deepEqual(track(0, 'ger', ' Kommentar\u202e\n '), {
    index: 0,
    language: 'de',
    title: 'Kommentar',
    codec: 'aac',
    channels: 2,
    default: false,
  });
  const languages = ['eng', 'pt_BR', 'PT-br', 'und', 'a language', '', undefined].map((tag) => track(0, tag).language);
  assert.deepEqual(languages, ['en', null, 'pt-BR', null, null, null, null]);
  assert.equal(track(0, 'en', 'x'.repeat(1000)).title?.length, 100);
});

test('a choice is an index or a language tag', () => {
  const given = ['0', '7', 'de', 'GER', 'pt-br', '-1', '1.5', '01', '1000', 'und', '', ' ', 'first track'];

  assert.deepEqual(given.map(readTrackChoice), [0, 7, 'de', 'de', 'pt-BR', ...Array.from({ length: 8 }, () => null)]);
});

test('a track is found by its index, or as the first one in a language or its variants', () => {
  const tracks = [track(0), track(1, 'en'), track(2, 'pt-BR'), track(3, 'en'), track(4, 'pt')];
  const found = (choice: number | string | null) => findTrack(tracks, choice)?.index ?? null;

  assert.deepEqual([null, 0, 3, 4, 5].map(found), [0, 0, 3, 4, null]);
  assert.deepEqual(['en', 'pt', 'pt-BR', 'en-US', 'p', 'de'].map(found), [1, 2, 2, null, null, null]);
  assert.equal(listTracks(tracks), '0, 1 (en), 2 (pt-BR), 3 (en), 4 (pt)');
});

test('of a file whose tracks could not be listed, a track is chosen by its index only', () => {
  assert.deepEqual(
    [null, 0, 3, 'en'].map((choice) => trackIndex([], choice)),
    [0, 0, 3, null],
  );
  assert.deepEqual(
    [null, 1].map((choice) => trackIndex([track(0)], choice)),
    [0, null],
  );
});
