import { CATALOGUE } from '../models/catalogue.ts';
import type { Model, ModelSource } from '../models/model.ts';
import type { Licence } from './engine.ts';

/**
 * The catalogue's entry for a folder that has its name, or the name of the repository from which it was copied;
 * else null.
 */
export function cataloguedModel(folderName: string): Model | null {
  const isOf = (source: ModelSource) => source.kind === 'hub' && source.repository.endsWith(`/${folderName}`);
  return CATALOGUE.find(({ name, sources }) => name === folderName || sources.some(isOf)) ?? null;
}

/** The licence of a model in the catalogue; null for other models. @param folderName  as for `cataloguedModel` */
export function licenceOfModel(folderName: string): Licence | null {
  const model = cataloguedModel(folderName);
  return model && { name: model.licence, attribution: model.attribution };
}
