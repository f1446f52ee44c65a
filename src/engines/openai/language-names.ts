/**
 * Names in Whisper's own table that are not those of CLDR, or that CLDR has for another code first.
 * Source: https://github.com/openai/whisper/blob/main/whisper/tokenizer.py
 */
const NAMES_OF_WHISPER: Readonly<Record<string, string>> = {
  bengali: 'bn',
  burmese: 'my',
  cantonese: 'yue',
  castilian: 'es',
  flemish: 'nl',
  haitian: 'ht',
  hawaiian: 'haw',
  lao: 'lo',
  letzeburgesch: 'lb',
  mandarin: 'zh',
  maori: 'mi',
  moldavian: 'ro',
  moldovan: 'ro',
  myanmar: 'my',
  nynorsk: 'nn',
  panjabi: 'pa',
  pushto: 'ps',
  romanian: 'ro',
  sinhalese: 'si',
  tagalog: 'tl',
  valencian: 'ca',
  yiddish: 'yi',
};

let codesByName: Map<string, string> | null = null;

/**
 * The code of the language in a speech server's answer; null where it is not known. OpenAI and whisper.cpp answer with
 * Whisper's English name (`english`), other servers with its code.
 */
export function languageCode(language: unknown): string | null {
  if (typeof language !== 'string') return null;
  const name = language.trim().toLowerCase();
  const code = NAMES_OF_WHISPER[name];
  if (code !== undefined) return code;
  if (/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) return language;
  codesByName ??= readCodesByName();
  return codesByName.get(name) ?? null;
}

/** Two-letter codes by the English name of the language. Read at first use: Node's table of names takes 4 MB. */
function readCodesByName(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const names = new Intl.DisplayNames('en', { type: 'language' });
  // Some languages have two codes: the first one counts.
  return new Map(codes.toReversed().map((code) => [names.of(code)!.toLowerCase(), code]));
}
