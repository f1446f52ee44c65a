/** The particles of Korean by the sound before them: a final consonant, none, or either. */
const PARTICLES = {
  afterConsonant: [
    ...['은', '이', '을', '과', '과의', '과는', '으로', '으로는', '으로도', '으로서', '으로써', '으로부터', '아'],
    ...['이나', '이며', '이고', '이라', '이라고', '이라는', '이라도', '이랑', '이든', '이든지', '이란', '이야'],
    ...['이다', '이었다', '이에요', '이었습니다'],
  ],
  afterVowel: [
    ...['는', '가', '를', '와', '와의', '와는', '나', '며', '고', '라', '라고', '라는', '라도', '랑', '든', '든지'],
    ...['란', '야', '다', '였다', '예요', '였습니다'],
  ],
  /** ㄹ counts as a vowel here. */
  afterVowelOrL: ['로', '로는', '로도', '로서', '로써', '로부터'],
  afterAny: [
    ...['의', '에', '에는', '에도', '에서', '에서는', '에서도', '에서의', '에서부터', '에게', '에게는', '에게도'],
    ...['에게서', '께', '께서', '께서는', '한테', '한테서', '하고', '도', '만', '만은', '만을', '만의', '만이', '까지'],
    ...['까지는', '까지도', '까지의', '부터', '부터는', '마저', '조차', '밖에', '처럼', '보다', '보다는', '마다'],
    ...['인', '입니다', '들', '들은', '들이', '들을', '들의', '들에', '들에게', '들과', '들도', '들로'],
  ],
};
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
/** Ways in which a syllable ends: without a consonant, or with one of 27. */
const FINALS = 28;
const FINAL_L = 8;

const BY_FINAL = Array.from({ length: FINALS }, (_, final) => {
  const { afterConsonant, afterVowel, afterVowelOrL, afterAny } = PARTICLES;
  const own =
    final === 0
      ? [...afterVowel, ...afterVowelOrL]
      : final === FINAL_L
        ? [...afterConsonant, ...afterVowelOrL]
        : afterConsonant;
  return new Set([...own, ...afterAny]);
});
/** After a word in Latin letters or digits, whose sound is not known. */
const AFTER_OTHERS = new Set(Object.values(PARTICLES).flat());
const LONGEST = Math.max(...[...AFTER_OTHERS].map(({ length }) => length));

/**
 * A Korean word without its longest particle, such as 회의 for 회의를; null without one. Many nouns of two syllables end
 * like a particle: 회의 itself would be 회.
 * @param minLetters  that must be left
 */
export function withoutParticle(word: string, minLetters: number): string | null {
  for (let at = Math.max(minLetters, word.length - LONGEST); at < word.length; at++) {
    const particles = particlesAfter(word.charCodeAt(at - 1));
    if (particles.has(word.slice(at))) return word.slice(0, at);
  }
  return null;
}

function particlesAfter(letter: number): ReadonlySet<string> {
  if (letter < FIRST_SYLLABLE || letter > LAST_SYLLABLE) return AFTER_OTHERS;
  return BY_FINAL[(letter - FIRST_SYLLABLE) % FINALS]!;
}
