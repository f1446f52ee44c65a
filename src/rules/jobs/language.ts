/** Codes that models use for a language beside the primary subtag of its canonical BCP 47 tag; the nearest first. */
const OTHER_CODES: Record<string, readonly string[]> = {
  fil: ['tl'],
  he: ['iw'],
  id: ['in'],
  jv: ['jw'],
  nb: ['no'],
  // A model without Nynorsk writes it as Norwegian.
  nn: ['no', 'nb'],
  no: ['nb'],
  tl: ['fil'],
  yi: ['ji'],
};

/** Whisper's own codes where they differ; the servers that speak OpenAI's API run Whisper, or take its codes. */
const WHISPER_CODES: Record<string, string> = { fil: 'tl', jv: 'jw', nb: 'no' };

/**
 * The code under which a model knows a language, whatever its region or script; null when it does not know it.
 * @param tag  BCP 47, in its canonical spelling
 * @param known  the model's own codes
 */
export function modelLanguage(tag: string, known: readonly string[]): string | null {
  const primary = primaryOf(tag);
  return [primary, ...(OTHER_CODES[primary] ?? [])].find((code) => known.includes(code)) ?? null;
}

/** The code to send to a server that speaks OpenAI's API: no region, and Whisper's spelling. */
export function remoteLanguage(tag: string): string {
  const primary = primaryOf(tag);
  return WHISPER_CODES[primary] ?? primary;
}

/** Whether an engine's answer names the language that was asked for, under any of its codes. */
export function isSameLanguage(asked: string, answered: string): boolean {
  return modelLanguage(asked, [primaryOf(answered), remoteLanguage(answered)]) !== null;
}

/** A model's codes as BCP 47 in canonical spelling (`jv` for `jw`), sorted, each once. */
export function canonicalLanguages(codes: readonly string[]): string[] {
  return [...new Set(codes.map(canonicalLanguage))].sort();
}

/** The code itself when it is none of BCP 47. */
function canonicalLanguage(code: string): string {
  try {
    return Intl.getCanonicalLocales(code)[0] ?? code;
  } catch {
    return code;
  }
}

function primaryOf(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0]!;
}
