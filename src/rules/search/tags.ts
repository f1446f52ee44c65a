/**
 * The word that all chunks of an account have: with it the index finds the account's chunks alone. No word of a text
 * has an at sign.
 */
export function ownerTag(accountId: string): string {
  return `@${accountId}`;
}

/** The word that all chunks in a language have. @param language  see `baseLanguage` */
export function languageTag(language: string): string {
  return `@${language}`;
}

/** The language whose tag is among the tags of a chunk; null for none. Ids have an underscore, languages none. */
export function languageOf(tags: readonly string[]): string | null {
  return tags.find((tag) => !tag.includes('_'))?.slice(1) ?? null;
}

/** The first part of a language code, such as pt of pt-BR; null for none. */
export function baseLanguage(code: string | null): string | null {
  return code === null ? null : code.split('-', 1)[0]!.toLowerCase();
}
