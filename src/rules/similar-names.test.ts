import assert from 'node:assert/strict';
import test from 'node:test';
import { similarNames } from './similar-names.ts';

const FIELDS = [
  ...['audio_url', 'audio_url_headers', 'webhook_url', 'webhook_secret', 'plan', 'async', 'metadata', 'language'],
  ...['timestamps', 'response_format', 'prompt', 'keywords', 'replacements', 'translate_to', 'diarize', 'speakers'],
  ...['min_speakers', 'max_speakers', 'multichannel', 'audio_track', 'delete_after_seconds', 'max_lines'],
];

const MEANT: [string, string[]][] = [
  ['lang', ['language']],
  ['langauge', ['language']],
  ['Language', ['language']],
  ['url', ['audio_url', 'webhook_url', 'audio_url_headers']],
  ['model', ['plan']],
  ['metdata', ['metadata']],
  ['format', ['response_format']],
  ['speaker_labels', ['diarize']],
  ['min_speaker', ['min_speakers']],
  ['translate', ['translate_to']],
  ['speaker_count', ['speakers', 'min_speakers', 'max_speakers']],
  ['callback_url', ['webhook_url']],
  ['speed', []],
  ['', []],
  ['toString', []],
  ['__proto__', []],
  ['x'.repeat(100_000), []],
];
for (const [written, meant] of MEANT) {
  test(`who writes "${written.slice(0, 20)}" may mean ${meant.join(', ') || 'nothing that there is'}`, () => {
    assert.deepEqual(similarNames(written, FIELDS).toSorted(), meant.toSorted());
  });
}

test('of many similar names five are given, the likeliest first', () => {
  const names = similarNames('max_cue', ['max_lines', 'max_chars', 'max_gap', 'max_speakers', 'max_wait', 'max_cues']);

  assert.deepEqual([names[0], names.length], ['max_cues', 1]);
  assert.equal(similarNames('max', ['max_a', 'max_b', 'max_c', 'max_d', 'max_e', 'max_f']).length, 5);
});
