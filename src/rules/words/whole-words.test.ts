import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { joinWords, textOfWords } from '../text/word-places.ts';
import { joinWholeWords } from './whole-words.ts';

/**
 * The words that Whisper's tokenizer, and its joining of signs, make of some sentences: written for this test, but for
 * the English one of 1901 from LJSpeech, which is in the public domain.
 */
const ANSWERS = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/whisper-words.json', import.meta.url), 'utf8'),
) as { language: string; text: string; words: string[] }[];

const timed = (words: readonly string[]) =>
  words.map((text, at) => ({ text, startSeconds: at / 4, endSeconds: at / 4 + 0.2, confidence: 0.5 }));
const wholeWords = (text: string, words: readonly string[]) =>
  joinWholeWords(text, timed(words)).map((word) => word.text);
const withoutSpaces = (text: string) => text.replace(/\s/g, '');

const EXPECTED: Record<string, string> = {
  fr: "Aujourd'hui,|l'accident|de|l'autoroute|n'a|blessé|qu'une|personne :|jusqu'à|midi,|dit-elle,|y|a-t-il|eu|des|« secours » ?|Peut-être.",
  it: "L'amico|dell'architetto|è|arrivato|all'alba;|un|po'|d'acqua,|nient'altro.",
  de: "Die|E-Mail|kam|um|7:45|Uhr,|z.B.|für|1.234,50|Euro;|geht's|noch?",
  uk: "П'ять|об'єктів|з'явилися|у|2024-му|році,|чи|не|так?",
  ar: 'في|عام|٢٠٢٣،|قال|الرجل:|«هل|تتكلم|العربية؟»|نعم،|بالطبع.',
  ja: '今日は|とても|天気|が|いい|ですね。|iPhone|15|を|3,000|円|で|買いました。|東京|都|に|住|んで|います。',
  th: 'วันนี้|อากาศ|ดี|มาก|เรา|ไป|ตลาด|กัน|เถอะ|ราคา|1,250|บาท',
  zh: '今天|天气|很好，|我们|去|公园|散步。|他|花了|1,200|元|买|了|iPhone。',
};

for (const { language, text, words } of ANSWERS.filter((answer) => answer.language in EXPECTED)) {
  test(`words of Whisper are whole words: ${language}`, () => {
    assert.equal(wholeWords(text, words).join('|'), EXPECTED[language]);
  });
}

for (const { language, text, words } of ANSWERS) {
  test(`all letters of the text are in its whole words, and no word ends inside one: ${language}`, () => {
    const whole = wholeWords(text, words);

    assert.equal(withoutSpaces(whole.join('')), withoutSpaces(text));
    const isWithoutSpaces = ['ja', 'zh', 'th', 'my', 'km', 'lo'].includes(language);
    // Signs that stand between spaces belong to a word.
    if (!isWithoutSpaces) assert.deepEqual(whole.join(' ').split(' '), text.trim().split(/\s+/));
  });

  test(`a text that is cut anywhere has all of its signs once, whole words or not (seed 12): ${language}`, () => {
    const random = randomFrom(12);
    for (const given of [timed(words), joinWholeWords(text, timed(words))]) {
      for (let run = 0; run < 200; run += 1) {
        const cut = random.integer(given.length + 1);
        const [before, after] = [
          textOfWords(text, given, (at) => at < cut),
          textOfWords(text, given, (at) => at >= cut),
        ];

        assert.ok([`${before}${after}`, `${before} ${after}`].map((one) => one.trim()).includes(text.trim()));
      }
    }
  });
}

test('a word that stands for several has the times of all, and their mean confidence', () => {
  const [word] = joinWholeWords('e-mail', timed(['e', '-mail']));

  assert.deepEqual(word, { text: 'e-mail', startSeconds: 0, endSeconds: 0.45, confidence: 0.5 });
});

test('words that are not those of the text are joined by their blanks, where some have blanks', () => {
  assert.deepEqual(wholeWords('3.50 Dollar', [' drei', '-fünfzig', ' Dollar']), ['drei-fünfzig', 'Dollar']);
  assert.deepEqual(wholeWords('3.50 Dollar', ['drei', 'fünfzig', 'Dollar']), ['drei', 'fünfzig', 'Dollar']);
});

test('words without signs, as some servers give them, are found in a text with signs', () => {
  assert.deepEqual(wholeWords('An ill-disposed "man", he said.', ['An', 'ill', 'disposed', 'man', 'he', 'said']), [
    'An',
    'ill-disposed',
    'man',
    'he',
    'said',
  ]);
});

test('words without a text are joined by spaces, but not in writing without spaces', () => {
  assert.equal(joinWords(timed(['And', ' so', ' my'])), 'And so my');
  assert.equal(joinWords(timed(['今天', '天气', '很好。', 'iPhone', '很好'])), '今天天气很好。 iPhone很好');
});

test('a word that the engine leaves out stays in the text', () => {
  const words = timed(['It', 'costs', 'dollars']);

  assert.equal(
    textOfWords('It costs $500, dollars', words, (at) => at > 0),
    'costs $500, dollars',
  );
  assert.equal(
    textOfWords('It costs $500, dollars', words, (at) => at < 2),
    'It costs $500,',
  );
});
