import { setTimeout as delay } from 'node:timers/promises';
import { CATALOGUE, FIRST_MODELS, VOICE_DETECTOR } from '../catalogue.ts';
import { isMissing } from '../first-models.ts';
import { isPulled } from '../folder.ts';
import { type Model, ModelError } from '../model.ts';
import { whyHubIsAway } from '../sources/hub.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import { type PullOptions, type PullProgress, pullModel } from './pull.ts';

export type FirstModelOptions = {
  modelsDir: string;
  origins: ModelOrigins;
  /**
   * Folders with models of this machine: that of the installation, and the user's cache, which keeps what is fetched.
   */
  local: { shipped: string; cache: string };
  /** Whether a model that transcribes is wanted, or the voice detector alone. */
  wantsSpeech: boolean;
  /** False: only the models that came with the installation are used. */
  mayDownload: boolean;
  onProgress?(name: string, progress: PullProgress): void;
  signal: AbortSignal;
  catalogue?: readonly Model[];
  reachMs?: number;
  freeBytes?: PullOptions['freeBytes'];
};

const REACH_MS = 3000;
const BUSY_PAUSE_MS = 500;

/**
 * Gets the voice detector, and a first model that transcribes where the folder has none: from this machine, else from
 * the first of FIRST_MODELS whose source can be reached. What is downloaded is kept in the user's cache. Waits for
 * another process that does the same.
 * @returns  the names that were added
 * @throws ModelError  that says why there is still no model that transcribes, or no voice detector
 */
export async function getFirstModels(options: FirstModelOptions): Promise<string[]> {
  const missing = await isMissing(options);
  const added: string[] = [];
  // First, because it is small, and the engines are opened as soon as there is a speech model.
  const add = async (name: Promise<string>) => void added.push(await name);
  const problem = missing.detector ? await tryTo(() => add(get(VOICE_DETECTOR, options))) : null;
  if (missing.speech) await add(getSpeechModel(options));
  if (problem !== null) throw problem;
  return added;
}

async function getSpeechModel(options: FirstModelOptions): Promise<string> {
  const { local, origins, mayDownload, signal, reachMs = REACH_MS } = options;
  for (const name of FIRST_MODELS) {
    const isHere = await Promise.all([local.shipped, local.cache].map((folder) => isPulled(folder, name)));
    if (isHere[0] || (isHere[1] && mayDownload)) return await get(name, options);
  }
  if (!mayDownload) throw new ModelError('not_pulled', 'MODEL_DOWNLOAD is off.');
  const problems: ModelError[] = [];
  for (const name of FIRST_MODELS) {
    const hub = modelNamed(name, options).sources.find((source) => source.kind === 'hub');
    const why = hub ? await whyHubIsAway(origins.hubUrl, hub, reachMs) : null;
    if (why !== null) {
      problems.push(new ModelError('unreachable', `The hub ${origins.hubUrl} (HF_ENDPOINT) ${why}.`));
      continue;
    }
    const problem = await tryTo(() => get(name, options));
    if (problem === null) return name;
    signal.throwIfAborted();
    problems.push(problem);
  }
  throw new ModelError('unreachable', problems.map(({ message }) => message).join(' '), { cause: problems });
}

/**
 * Downloads into the cache, and links from there; straight into the folder where no cache can be written, or the disk
 * of the cache has no room.
 */
async function get(name: string, options: FirstModelOptions): Promise<string> {
  const { modelsDir, local, origins, mayDownload, signal, onProgress, catalogue, freeBytes } = options;
  const common = { origins, signal, ...(catalogue && { catalogue }), ...(freeBytes && { freeBytes }) };
  const pull = (folder: string, copies: string[]) =>
    untilFree(signal, () =>
      pullModel(name, {
        ...common,
        modelsDir: folder,
        copies,
        onProgress: (progress) => onProgress?.(name, progress),
      }),
    );
  if (!(await isPulled(local.shipped, name))) {
    if (!mayDownload) throw new ModelError('not_pulled', 'MODEL_DOWNLOAD is off.');
    try {
      await pull(local.cache, []);
    } catch (error) {
      const isFull = error instanceof ModelError && error.problem === 'no_space';
      if ((error instanceof ModelError && !isFull) || signal.aborted) throw error;
    }
  }
  await pull(modelsDir, [local.shipped, local.cache]);
  return name;
}

/** One process pulls into a folder at a time; the others wait for it. */
async function untilFree<Result>(signal: AbortSignal, pull: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await pull();
    } catch (error) {
      if (!(error instanceof ModelError && error.problem === 'busy')) throw error;
      await delay(BUSY_PAUSE_MS, null, { signal });
    }
  }
}

function modelNamed(name: string, { catalogue = CATALOGUE }: FirstModelOptions): Model {
  return catalogue.find((model) => model.name === name)!;
}

async function tryTo(act: () => Promise<unknown>): Promise<ModelError | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}
