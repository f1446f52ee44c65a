import { type Config, dataPaths } from '../../config/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { pulledModels } from '../folder.ts';
import { localModels, modelOrigins } from '../sources/origins.ts';
import { fetchFirstModels } from './first-model-fetch.ts';

type Context = {
  config: Pick<Config, 'dataDir' | 'hubUrl' | 'modelDownload' | 'engineLite' | 'enginePro'>;
  log: Log;
  clock: Clock;
};

const LOOK_EVERY_MS = 2_000;

/**
 * The models of a node: gets the first ones in the background (MODEL_DOWNLOAD), and notices what is pulled or removed
 * while the service runs.
 */
export class ModelWatch {
  #reason: string | null = null;
  readonly #context: Context;
  readonly #modelsDir: string;
  #names: string | null = null;
  #change = new AbortController();
  #look = new AbortController();

  constructor(context: Context) {
    this.#context = context;
    this.#modelsDir = dataPaths(context.config.dataDir).models;
  }

  /** Why there is no model that transcribes yet; null when nothing is missing, or nothing was tried yet. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Aborts when the models change the next time. */
  get changed(): AbortSignal {
    return this.#change.signal;
  }

  /** Watches until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    this.#names = await this.#list();
    await Promise.all([this.#getFirst(signal), this.#lookUntil(signal, (look) => clock.sleep(LOOK_EVERY_MS, look))]);
  }

  async #getFirst(signal: AbortSignal): Promise<void> {
    const { config, log, clock } = this.#context;
    const work = {
      modelsDir: this.#modelsDir,
      origins: modelOrigins(config),
      local: localModels(),
      wantsSpeech: config.engineLite === null || config.enginePro === null,
      mayDownload: config.modelDownload === 'on',
    };
    const onReason = (reason: string) => {
      this.#reason = reason;
    };
    const onAdded = () => this.#look.abort(null);
    await fetchFirstModels(work, { log, clock, onReason, onAdded }, signal);
  }

  async #lookUntil(signal: AbortSignal, pause: (look: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await pause(AbortSignal.any([signal, this.#look.signal]));
      this.#look = new AbortController();
      const names = await this.#list();
      if (names === this.#names || names === null) continue;
      this.#names = names;
      this.#change.abort(null);
      this.#change = new AbortController();
    }
  }

  /** Null while the folder cannot be read. */
  async #list(): Promise<string | null> {
    return await pulledModels(this.#modelsDir).then(String, () => null);
  }
}
