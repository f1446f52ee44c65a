const MAX_NAMES = 5;
const MIN_PREFIX_CHARS = 3;
const CHARS_PER_TYPO = 4;
// The rank of a name with a word in common.
const SHARED_WORD = 3;
/** Names are chosen by clients: longer ones are compared by their beginning. */
const MAX_CHARS = 64;

/** What other services and people call fields of this API. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  callback: 'webhook_url',
  callback_url: 'webhook_url',
  channels: 'multichannel',
  custom_spelling: 'replacements',
  diarization: 'diarize',
  endpoint: 'url',
  hotwords: 'keywords',
  model: 'plan',
  speaker_labels: 'diarize',
  ttl: 'delete_after_seconds',
  utterances: 'diarize',
  vocabulary: 'keywords',
  word_boost: 'keywords',
};

/**
 * Names that somebody may have meant who wrote another one, the likeliest first; at most five.
 * @param name   in snake_case, as the client wrote it
 * @param known  the names that there are
 */
export function similarNames(name: string, known: readonly string[]): string[] {
  const written = name.slice(0, MAX_CHARS).toLowerCase();
  const ranked = known.map((other) => ({ other, rank: rankOf(written, other) }));
  const near = ranked.filter(({ rank }) => rank < SHARED_WORD);
  const found = near.length > 0 ? near : ranked.filter(({ rank }) => rank === SHARED_WORD);
  return found
    .sort((left, right) => left.rank - right.rank)
    .slice(0, MAX_NAMES)
    .map(({ other }) => other);
}

/** 0 for the name that is likeliest meant; more than SHARED_WORD for one that has nothing in common. */
function rankOf(written: string, known: string): number {
  if (Object.hasOwn(OTHER_NAMES, written) && OTHER_NAMES[written] === known) return 0;
  if (isTypo(written, known)) return 1;
  const [words, others] = [written.split(/[_\-. ]/), known.split('_')];
  const [shorter, longer] = words.length < others.length ? [words, others] : [others, words];
  if (begins(written, known) || shorter.every((word) => longer.includes(word))) return 2;
  return words.some((word) => others.some((other) => begins(word, other))) ? SHARED_WORD : SHARED_WORD + 1;
}

/** Whether one begins with the other. */
function begins(left: string, right: string): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  return shorter.length >= MIN_PREFIX_CHARS && longer.startsWith(shorter);
}

/** Whether few letters are missing, more, other or in another order. */
function isTypo(written: string, known: string): boolean {
  const maxTypos = Math.max(1, Math.floor(Math.min(written.length, known.length) / CHARS_PER_TYPO));
  if (Math.abs(written.length - known.length) > maxTypos) return false;
  let before = Array.from({ length: known.length + 1 }, (_, j) => j);
  let beforeThat: number[] = [];
  for (let i = 1; i <= written.length; i++) {
    const row = [i];
    for (let j = 1; j <= known.length; j++) {
      const isSame = written[i - 1] === known[j - 1];
      const isSwapped = i > 1 && j > 1 && written[i - 1] === known[j - 2] && written[i - 2] === known[j - 1];
      const cost = Math.min(before[j]! + 1, row[j - 1]! + 1, before[j - 1]! + (isSame ? 0 : 1));
      row.push(isSwapped ? Math.min(cost, beforeThat[j - 2]! + 1) : cost);
    }
    [beforeThat, before] = [before, row];
  }
  return before[known.length]! <= maxTypos;
}
