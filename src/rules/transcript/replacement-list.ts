import type { Replacement } from './replacements.ts';

export const MAX_REPLACEMENTS = 200;
/** Of each phrase. */
export const MAX_REPLACEMENT_CHARS = 100;

const HAS_LETTERS = /[\p{L}\p{M}\p{N}]/u;
const CONTROL_CHARACTERS = /\p{Cc}/u;

/** What is wrong with a list, as an answer to its sender. */
type Invalid = { kind: 'invalid'; message: string };

/** The replacements in a JSON text, trimmed and in the form of Unicode that engines write. */
export function readReplacementList(text: string): { kind: 'valid'; replacements: Replacement[] } | Invalid {
  const given = parseArray(text);
  if (given === null) {
    return invalid('replacements must be a JSON array such as [{"from": "cooper netties", "to": "Kubernetes"}].');
  }
  if (given.length > MAX_REPLACEMENTS) return invalid(`Send at most ${MAX_REPLACEMENTS} replacements.`);
  const replacements: Replacement[] = [];
  for (const [index, entry] of given.entries()) {
    const replacement = readReplacement(entry);
    if ('kind' in replacement) return invalid(`replacements[${index}]: ${replacement.message}`);
    replacements.push(replacement);
  }
  const phrases = replacements.map(({ from }) => from.toLowerCase().replace(/\s+/g, ' '));
  const again = phrases.findIndex((phrase, index) => phrases.indexOf(phrase) < index);
  if (again >= 0) {
    const first = phrases.indexOf(phrases[again]!);
    return invalid(`replacements[${again}]: \`from\` is that of replacements[${first}]; give each phrase once.`);
  }
  return { kind: 'valid', replacements };
}

function parseArray(text: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function readReplacement(given: unknown): Replacement | Invalid {
  const { from, to, ...others } = Object(given) as Record<string, unknown>;
  if (typeof from !== 'string' || typeof to !== 'string' || Object.keys(others).length > 0) {
    return invalid('Give a text `from` and a text `to`, and nothing else.');
  }
  const replacement = { from: from.normalize('NFC').trim(), to: to.normalize('NFC').trim() };
  const phrases = Object.values(replacement);
  if (replacement.from === '' || phrases.some((phrase) => [...phrase].length > MAX_REPLACEMENT_CHARS)) {
    return invalid(
      `\`from\` must have 1 to ${MAX_REPLACEMENT_CHARS} characters, \`to\` at most ${MAX_REPLACEMENT_CHARS}.`,
    );
  }
  if (phrases.some((phrase) => CONTROL_CHARACTERS.test(phrase) || !phrase.isWellFormed())) {
    return invalid('`from` and `to` must be text without control characters.');
  }
  if (!HAS_LETTERS.test(replacement.from)) return invalid('`from` needs a letter or a digit.');
  return replacement;
}

function invalid(message: string): Invalid {
  return { kind: 'invalid', message };
}
