import path from 'node:path';
import { installedModels } from '../engines/registry/open.ts';
import { findModel } from '../models/catalogue.ts';
import { openProgress } from '../models/pull/progress.ts';
import { pullModel } from '../models/pull/pull.ts';
import { localModels, modelOrigins } from '../models/sources/origins.ts';
import { missingModel } from './request.ts';

/** Pulls the model that a language needs, where no installed one knows it, with its progress. @throws ModelError */
export async function getModelFor(
  language: string,
  { dataDir, hubUrl }: { dataDir: string; hubUrl: string },
): Promise<void> {
  const modelsDir = path.join(dataDir, 'models');
  const { shipped, cache } = localModels();
  const name = missingModel(language, await installedModels(modelsDir));
  if (name === null) return;
  const languages = findModel(name).languages.length;
  console.log(`• No model here knows ${language}: getting ${name}, which knows ${languages} languages`);
  const progress = openProgress(name, process.stdout, () => performance.now());
  const origins = modelOrigins({ hubUrl });
  await pullModel(name, { modelsDir, origins, copies: [shipped, cache], onProgress: progress.update }).finally(
    progress.end,
  );
}
