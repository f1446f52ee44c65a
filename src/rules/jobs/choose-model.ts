import { modelLanguage } from './language.ts';

/** What the rule looks at. @property languages  the model's own codes; null when unknown */
export type Choosable = { languages?: readonly string[] | null; features?: readonly string[] };

/** The part of a request that decides. */
export type ModelRequest = { language: string | null; translateTo?: string | null | undefined };

/**
 * Of one or several models, best first, the one that serves a request: the first that knows its language. Without a
 * language, the first that knows several: one of a single language writes words of it for the speech of any other.
 * A translation takes a model that translates, where there is one.
 */
export function chooseModel<Model extends Choosable>(
  models: readonly Model[],
  { language, translateTo = null }: ModelRequest,
): Model {
  const translators = models.filter(({ features }) => translateTo !== null && features?.includes('translate'));
  const candidates = translators.length > 0 ? translators : models;
  const fallback = candidates.find(({ languages }) => (languages?.length ?? 0) > 1) ?? candidates[0]!;
  if (language === null) return fallback;
  const knows = ({ languages }: Model) => languages != null && modelLanguage(language, languages) !== null;
  return candidates.find(knows) ?? candidates.find(({ languages }) => languages == null) ?? fallback;
}

/** The models that serve some request, in their order: the others need not be loaded. */
export function modelsInUse<Model extends Choosable>(models: readonly Model[]): Model[] {
  const languages = new Set(models.flatMap((model) => model.languages ?? []));
  const used = new Set([null, ...languages].map((language) => chooseModel(models, { language })));
  return models.filter((model) => used.has(model));
}
