import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingModel, readRequest, timedLines } from './request.ts';

test('the demo takes a file and its language, in any order', () => {
  assert.deepEqual(readRequest([]), { file: null, language: null });
  assert.deepEqual(readRequest(['my.mp3']), { file: 'my.mp3', language: null });
  assert.deepEqual(readRequest(['my.mp3', '--language', 'de']), { file: 'my.mp3', language: 'de' });
  assert.deepEqual(readRequest(['--language=pt-br', 'my.mp3']), { file: 'my.mp3', language: 'pt-BR' });
});

test('other arguments are refused with how to write them', () => {
  const usage = /Usage: npm run demo -- my\.mp3 --language de$/;
  assert.throws(() => readRequest(['a.mp3', 'b.mp3']), usage);
  assert.throws(() => readRequest(['--language']), usage);
  assert.throws(() => readRequest(['--lang', 'de']), usage);
  assert.throws(() => readRequest(['--language', 'not a language']), usage);
});

const CASES: [language: string | null, installed: (string[] | null)[], missing: string | null][] = [
  ['de', [], 'whisper-base'],
  ['de-AT', [['en']], 'whisper-base'],
  ['nb', [['en']], 'whisper-base'],
  ['de', [['en'], ['en', 'de']], null],
  ['de', [null], null],
  ['en-GB', [], null],
  [null, [], null],
];

for (const [language, installed, missing] of CASES) {
  test(`${language ?? 'no language'} with ${JSON.stringify(installed)} needs ${missing ?? 'nothing more'}`, () => {
    assert.equal(
      missingModel(
        language,
        installed.map((languages) => ({ languages })),
      ),
      missing,
    );
  });
}

test('a language that no model knows is refused by name', () => {
  assert.throws(() => missingModel('tlh', [{ languages: ['en'] }]), /knows the language tlh/);
});

test('words are shown with their times, those of a long text in part', () => {
  const words = Array.from({ length: 50 }, (_, at) => ({ text: `w${at}`, start: at / 2 }));

  assert.deepEqual(timedLines(words.slice(0, 7)), [
    '0.00 w0   0.50 w1   1.00 w2   1.50 w3   2.00 w4   2.50 w5',
    '3.00 w6',
  ]);
  assert.deepEqual(timedLines(words).slice(7), [
    '21.00 w42   21.50 w43   22.00 w44   22.50 w45   23.00 w46   23.50 w47',
    '… and 2 more words',
  ]);
  assert.deepEqual(timedLines([]), []);
});
