/**
 * What is known of a language where two texts of it are joined. All words are in lower case.
 * @property functionWords  articles, pronouns, prepositions, conjunctions: none of them is a name. Auxiliary verbs are
 *                          left out: questions begin with them
 * @property hanging        those that hang on what was said before, and begin no sentence
 * @property unfinished     those after which something must follow: they end no sentence
 * @property negation       a word that ends few sentences, and none whose next words are a clause that asks nothing
 * @property clauseWords    words that begin such a clause
 * @property isInNames      names begin with the articles and prepositions too: `La Rochelle`
 */
export type CutWords = {
  functionWords: ReadonlySet<string>;
  hanging: ReadonlySet<string>;
  unfinished: ReadonlySet<string>;
  negation?: string;
  clauseWords: ReadonlySet<string>;
  isInNames: boolean;
};

const ENGLISH: CutWords = {
  functionWords: setOf(`a an the this that these those each every some any no all both he she it we you they his her
    its our your their my me him us them who whom whose which what when where why how whether and or but nor so yet for
    of in on at by to from with without within into onto upon over under about above below after before behind between
    through during against among across along around beyond toward towards as than if unless until till because since
    while though although not even`),
  hanging: setOf('of than which whose whom or nor unless until till'),
  unfinished: setOf('a an the of and or but nor my your our their than into onto upon because whose'),
  negation: 'not',
  clauseWords: setOf('what who whom whose which where when why how whether'),
  isInNames: false,
};

// Nouns have capitals, and so do "Sie" and "Ihr" in letters: only words that have one at the start of a sentence alone.
const GERMAN: CutWords = {
  functionWords: setOf(`der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner dieser
    diese dieses diesen diesem ich du er es wir mich dich sich uns mein meine dein deine sein seine unser unsere wer was
    wann wo warum wie welche welcher welches dessen deren und oder aber denn sondern dass ob weil wenn als obwohl damit
    während nachdem bevor in im an am auf aus bei beim mit nach von vom zu zum zur für durch gegen ohne um über unter vor
    hinter zwischen neben seit bis nicht auch sowie`),
  hanging: setOf('dass oder sondern sowie dessen deren'),
  unfinished: setOf('ein eine einen einem einer eines und oder aber sondern dass weil ob im am vom zum zur beim'),
  negation: 'nicht',
  clauseWords: setOf('was wer wann wo warum wie welche welcher welches'),
  isInNames: false,
};

const FRENCH: CutWords = {
  functionWords: setOf(`le la les l un une des du de d au aux à en dans par pour sur sous avec sans vers chez entre
    depuis pendant contre je j tu il elle on nous vous ils elles ce c cet cette ces mon ma mes ton ta tes son sa ses notre
    nos votre vos leur leurs me m te t se s lui y ne n qui que qu quoi dont où quand comme comment si et ou mais donc or ni
    car puisque lorsque`),
  hanging: setOf('dont ou ni que qu'),
  unfinished: setOf(
    'le la les un une des du de au aux à et ou mais mon ma mes ton ta tes son sa ses notre votre leur que',
  ),
  clauseWords: setOf(''),
  isInNames: true,
};

const SPANISH: CutWords = {
  functionWords: setOf(`el la los las lo un una unos unas de del al a en con sin por para sobre entre hasta desde hacia
    según durante contra yo tú él ella nosotros ellos ellas me te se nos le les mi mis tu tus su sus nuestro nuestra este
    esta estos estas ese esa esos esas que quien quienes cuando como donde cuyo cuya si porque aunque y e o u pero sino ni
    pues`),
  hanging: setOf('que cuyo cuya o u ni sino'),
  unfinished: setOf('el la los las un una unos unas de del al a en con y e o pero mi mis tu tus su sus que'),
  clauseWords: setOf(''),
  isInNames: true,
};

const PORTUGUESE: CutWords = {
  functionWords: setOf(`o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela pelos
    pelas para com sem sobre entre até desde contra eu ele ela nós eles elas me te se lhe meu minha seu sua seus suas nosso
    nossa este esta esse essa isto isso aquele aquela que quem quando como onde cujo cuja se porque embora e ou mas nem
    pois`),
  hanging: setOf('que cujo cuja ou nem'),
  unfinished: setOf('o os um uma de do da dos das em no na nos nas ao aos e ou mas meu minha seu sua que'),
  clauseWords: setOf(''),
  isInNames: true,
};

// Without "lei" and "loro", which have a capital where they are polite.
const ITALIAN: CutWords = {
  functionWords: setOf(`il lo la i gli le l un uno una di d del dello della dei degli delle a al allo alla ai agli alle
    da dal dalla dai dalle in nel nella nei nelle con su sul sulla sui sulle per tra fra senza verso contro durante io tu
    lui noi voi mi ti si ci vi ne mio mia suo sua nostro nostra questo questa questi queste quello quella che chi cui
    quando come dove se perché anche e ed o ma né oppure`),
  hanging: setOf('che cui o oppure né'),
  unfinished: setOf('il lo i gli le un uno una di del della dei degli delle al alla dal dalla nel nella e ed o ma che'),
  clauseWords: setOf(''),
  isInNames: true,
};

const KNOWN: Readonly<Record<string, CutWords>> = {
  en: ENGLISH,
  de: GERMAN,
  fr: FRENCH,
  es: SPANISH,
  pt: PORTUGUESE,
  it: ITALIAN,
};

/** Null for a language that is not known. @param language  BCP 47, or null */
export function cutWordsOf(language: string | null): CutWords | null {
  return KNOWN[language?.toLowerCase().split('-', 1)[0] ?? ''] ?? null;
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).filter((word) => word !== ''));
}
