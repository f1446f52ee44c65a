import type { Clock } from '../../platform/clock.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { openWorkingEngine } from '../registry/open.ts';
import { agreementEngine } from './agreement-engine.ts';
import type { LiveEngine } from './live-engine.ts';

export type LiveEngineOptions = EngineOptions & {
  clock: Clock;
  /** Seconds between two transcripts of an open segment; null: 1 for engines of this machine, 3 for remote ones. */
  stepSeconds: number | null;
};

const STEP_SECONDS = { local: 1, remote: 3 };
// Of an engine that is called by HTTP, whose capacity is not known.
const REMOTE_SESSIONS = 50;
// Sessions for each engine process that transcribes open segments again and again.
const SESSIONS_PER_SLOT = 4;

/**
 * The live engine of a spec; for null that of the best engine that works.
 * @throws EngineError  that says what to install or repair
 */
export async function openLiveEngine(wanted: EngineSpec | null, options: LiveEngineOptions): Promise<LiveEngine> {
  const { spec, engine } = await openWorkingEngine(wanted, options);
  const isRemote = spec.kind === 'openai';
  return agreementEngine(engine, {
    clock: options.clock,
    stepSeconds: options.stepSeconds ?? (isRemote ? STEP_SECONDS.remote : STEP_SECONDS.local),
    sessions: isRemote ? REMOTE_SESSIONS : SESSIONS_PER_SLOT * engine.slots,
  });
}
