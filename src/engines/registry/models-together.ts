import assert from 'node:assert/strict';
import { chooseModel, type ModelRequest } from '../../rules/jobs/choose-model.ts';
import type { Engine, Pcm, TranscribeOptions } from '../engine.ts';

/** One engine of several models, best first: each call is served by the model that `chooseModel` names. */
export function modelsTogether(engines: readonly Engine[]): Engine {
  const [first, ...others] = engines;
  assert(first, 'there is a model');
  if (others.length === 0) return first;
  const serving = (request: ModelRequest) => chooseModel(engines, request);
  return {
    name: engines.map(({ name }) => name).join(', '),
    slots: first.slots,
    languages: [...new Set(engines.flatMap(({ languages }) => languages ?? []))],
    // A translation takes the model that can; what else a request gets depends on its language.
    features: [...new Set(engines.flatMap(({ features }) => features ?? []))].filter((feature) => {
      return feature === 'translate' || engines.every(({ features }) => features?.includes(feature));
    }),
    licence: serving({ language: null }).licence ?? null,
    get maxPieceSeconds() {
      return Math.min(...engines.map((engine) => engine.maxPieceSeconds ?? Number.POSITIVE_INFINITY));
    },
    get isCalibrated() {
      return engines.every(({ isCalibrated }) => isCalibrated === true);
    },
    serving,
    async warmUp() {
      for (const engine of engines) await engine.warmUp();
    },
    transcribe: (piece: Pcm, options: TranscribeOptions) => serving(options).transcribe(piece, options),
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    },
  };
}
