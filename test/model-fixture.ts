import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Model } from '../src/models/model.ts';
import type { PullOptions } from '../src/models/pull.ts';
import { pullModel } from '../src/models/pull.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { HubFile, TestHub } from './hub.ts';
import { startHub } from './hub.ts';
import { randomFrom } from './random.ts';

export const MODEL_BYTES = 300_000;
const restless: Clock = { now: () => 0, sleep: async () => undefined };

/** A hub with one model, and an empty folder to pull it into. */
export type ModelFixture = AsyncDisposable & {
  hub: TestHub;
  modelsDir: string;
  model: Model;
  large: HubFile;
  small: HubFile;
  part(file: string): string;
  pull(options?: Partial<PullOptions>, name?: string): ReturnType<typeof pullModel>;
};

/** @param name  of the model, which is a large random file and a small one of tokens */
export async function openModelFixture(name = 'tone'): Promise<ModelFixture> {
  const random = randomFrom(7);
  const large = {
    path: 'model.onnx',
    bytes: Buffer.from(Array.from({ length: MODEL_BYTES }, () => random.integer(256))),
    isLarge: true,
  };
  const small = { path: 'tokens.txt', bytes: Buffer.from('a 0\nb 1\n'.repeat(2000)), isLarge: false };
  const hub = await startHub([large, small]);
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'verbatim-models-'));
  const modelsDir = path.join(dataDir, 'models');
  const model = modelOf(name, hub, [large, small]);
  return {
    hub,
    modelsDir,
    model,
    large,
    small,
    part: (file) => path.join(modelsDir, '.partial', name, file),
    pull: (options = {}, wanted = name) => {
      return pullModel(wanted, { modelsDir, hubUrl: hub.url, catalogue: [model], clock: restless, ...options });
    },
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true });
    },
  };
}

function modelOf(name: string, hub: TestHub, files: HubFile[]): Model {
  return {
    name,
    title: 'Tones',
    family: 'parakeet-ctc',
    repository: hub.repository,
    revision: hub.revision,
    files: files.map(({ path: file, bytes }) => ({
      path: file,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })),
    licence: 'MIT',
    attribution: 'this project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 10,
    advice: 'tests',
  };
}
