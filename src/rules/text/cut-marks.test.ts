import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Cut,
  judgeCut,
  withoutCapital,
  withoutDoubledMarks,
  withoutLeadingMark,
  withoutStop,
} from './cut-marks.ts';

const WHOLE: Omit<Cut, 'before' | 'after'> = { pauseSeconds: 0.4, language: 'en', isEndCut: true, isStartCut: true };

/** The two texts as they are joined. */
function joined(before: string, after: string, known: Partial<typeof WHOLE> = {}) {
  const cut = { ...WHOLE, ...known, before, after };
  const { isStopMade, isCapitalMade } = judgeCut(cut);
  return `${isStopMade ? withoutStop(before) : before} | ${isCapitalMade ? withoutCapital(after) : after}`;
}

const [NONE, SHORT, PAUSE, LONG] = [0, 0.4, 0.9, 1.3];

for (const [pauseSeconds, before, after, wanted] of [
  // The engine says that the sentence goes on.
  [SHORT, 'the present period,', 'That some', 'the present period, | that some'],
  [PAUSE, 'insisted on its being received', 'For good', 'insisted on its being received | for good'],
  [LONG, 'the present period,', 'That some', 'the present period, | That some'],
  // A small letter goes on.
  [PAUSE, 'He ladled out in thick.', 'peppered sauce', 'He ladled out in thick | peppered sauce'],
  [PAUSE, 'ladled out in...', 'thick sauce. Then', 'ladled out in | thick sauce. Then'],
  [LONG, 'He ladled out in thick.', 'peppered sauce', 'He ladled out in thick. | peppered sauce'],
  // Words that begin no sentence, and words that end none.
  [PAUSE, 'produced the block books.', 'Which were the first', 'produced the block books | which were the first'],
  [PAUSE, 'Look at the.', 'Whole of it', 'Look at the. | Whole of it'],
  [PAUSE, 'My fellow Americans and.', 'The others', 'My fellow Americans and | the others'],
  [
    PAUSE,
    'Americans ask not.',
    'What your country can do for you, ask',
    'Americans ask not | what your country can do for you, ask',
  ],
  [PAUSE, 'I hope not.', 'What do you say? He left.', 'I hope not. | What do you say? He left.'],
  [PAUSE, 'I hope not.', 'He left.', 'I hope not. | He left.'],
  [NONE, 'we are at present.', 'In the only sense', 'we are at present. | In the only sense'],
  // A sentence that may have ended, names, and what only looks like a function word.
  [PAUSE, 'his gospel.', 'He was not', 'his gospel. | He was not'],
  [NONE, 'with.', 'Printing presses', 'with. | Printing presses'],
  [NONE, 'with', 'London and Paris', 'with | London and Paris'],
  [NONE, 'and then', 'I said', 'and then | I said'],
  [NONE, 'and then', "I'm here", "and then | I'm here"],
  [NONE, 'and then', "It's here", "and then | it's here"],
  [NONE, 'they asked', 'WHO and IT', 'they asked | WHO and IT'],
  [NONE, 'it belongs to', 'Will and May', 'it belongs to | Will and May'],
  [NONE, 'is it?', 'The man', 'is it? | The man'],
  [NONE, 'he said."', 'The man', 'he said." | The man'],
  // Full stops that belong to a word.
  [NONE, 'there was Mr.', 'And Mrs. Dashwood', 'there was Mr. | And Mrs. Dashwood'],
  [NONE, 'at five p.m.', 'The man', 'at five p.m. | The man'],
  [NONE, 'of George W.', 'The man', 'of George W. | The man'],
  [NONE, 'in 1914.', 'The man', 'in 1914. | The man'],
] as const) {
  test(`English, ${pauseSeconds} s: ${before} ${after}`, () => {
    assert.equal(joined(before, after, { pauseSeconds }), wanted);
  });
}

for (const [language, before, after, wanted] of [
  ['de', 'er kam an,', 'Und das Haus', 'er kam an, | und das Haus'],
  ['de-AT', 'er sagte.', 'Dass er kommt', 'er sagte | dass er kommt'],
  ['de', 'er sah das', 'Haus am See', 'er sah das | Haus am See'],
  ['de', 'er sagte,', 'Sie kommen', 'er sagte, | Sie kommen'],
  ['de', 'fragt nicht.', 'Was euer Land tun kann', 'fragt nicht | was euer Land tun kann'],
  ['lb', 'hie sot', 'An d’Haus', 'hie sot | An d’Haus'],
  ['fr', 'il parle,', "L'accident a eu lieu", "il parle, | l'accident a eu lieu"],
  ['fr', 'il vient de', 'La Rochelle', 'il vient de | La Rochelle'],
  ['fr', 'il pense.', "Qu'à la fin", "il pense | qu'à la fin"],
  ['es', 'dijo,', 'Que no', 'dijo, | que no'],
  ['pt', 'ele disse,', 'A casa', 'ele disse, | a casa'],
  ['it', 'disse,', 'Che non', 'disse, | che non'],
  ['ru', 'он сказал.', 'что да. Нет', 'он сказал | что да. Нет'],
  ['ka', 'ის არის.', 'სახლი', 'ის არის. | სახლი'],
  ['ja', '存在する。', 'のである', '存在する。 | のである'],
  [null, 'the present period,', 'That some', 'the present period, | That some'],
  [null, 'The present.', 'that some', 'The present | that some'],
  // An engine without capitals shows no start of a sentence.
  ['en', 'the present.', 'he came', 'the present. | he came'],
] as const) {
  test(`${language ?? 'an unknown language'}: ${before} ${after}`, () => {
    assert.equal(joined(before, after, { language }), wanted);
  });
}

test('signs that are the engine’s own stay: only a side that ends where its audio did is changed', () => {
  assert.equal(joined('It is the.', 'The end', { isEndCut: false, pauseSeconds: 0 }), 'It is the. | The end');
  assert.equal(joined('It is the', 'The end', { isEndCut: false, pauseSeconds: 0 }), 'It is the | the end');
  assert.equal(joined('no longer.', 'He hoped', { isStartCut: false, pauseSeconds: 0 }), 'no longer. | He hoped');
  assert.equal(joined('No longer.', 'he hoped', { isStartCut: false, pauseSeconds: 0 }), 'No longer | he hoped');
});

test('a mark that stands twice stands once, and an ellipsis, quotation marks and abbreviations stay', () => {
  for (const [text, wanted] of [
    ['In short,, the period', 'In short, the period'],
    ['period,.', 'period.'],
    ['period, .', 'period.'],
    ['period..', 'period.'],
    ['wait...', 'wait...'],
    ['etc., and', 'etc., and'],
    [',,Guten Tag" 1,,2', ',,Guten Tag" 1,,2'],
    ['終わり。。', '終わり。'],
  ] as const) {
    assert.equal(withoutDoubledMarks(text), wanted);
  }
  assert.equal(withoutLeadingMark(', and so', 'the period,'), 'and so');
  assert.equal(withoutLeadingMark(', and so', 'the period'), ', and so');
  assert.equal(withoutLeadingMark('.5 percent', 'the period,'), '.5 percent');
});
