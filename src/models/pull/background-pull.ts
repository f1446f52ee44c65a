import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { entryPoint } from '../../platform/installation.ts';
import { findModel } from '../catalogue.ts';
import { type Model, sizeOfModel } from '../model.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import type { ThreadMessage, ThreadWork } from './pull-thread.ts';

/** The pull that runs, or the last one of this process. */
export type PullState = {
  model: string;
  status: 'running' | 'completed' | 'canceled' | 'failed';
  doneBytes: number;
  totalBytes: number;
  /** What went wrong and what to do, of a pull that failed. */
  message: string | null;
  startedAt: Date;
  endedAt: Date | null;
};

type PullPlace = {
  modelsDir: string;
  origins: ModelOrigins;
  catalogue?: readonly Model[];
  clock?: Pick<Clock, 'now'>;
};

type Running = { thread: Worker; ended: Promise<void> };

/**
 * Pulls models beside the work of a process: one at a time, in a thread, as the digests of hundreds of megabytes take
 * seconds. A pull that fails is resumed by the next one; a canceled one leaves nothing.
 */
export class BackgroundPull {
  readonly #place: PullPlace;
  readonly #clock: Pick<Clock, 'now'>;
  #state: PullState | null = null;
  #running: Running | null = null;

  constructor(place: PullPlace) {
    this.#place = place;
    this.#clock = place.clock ?? systemClock;
  }

  get state(): PullState | null {
    return this.#state;
  }

  /** Returns null, and does nothing, while a pull runs. @throws ModelError  `unknown_model` */
  start(name: string): PullState | null {
    const { modelsDir, origins, catalogue } = this.#place;
    const model = findModel(name, catalogue);
    if (this.#running !== null) return null;
    this.#state = {
      model: name,
      status: 'running',
      doneBytes: 0,
      totalBytes: sizeOfModel(model),
      message: null,
      startedAt: new Date(this.#clock.now()),
      endedAt: null,
    };
    const work: ThreadWork = { name, modelsDir, origins, catalogue };
    const thread = new Worker(entryPoint('pull-thread'), { workerData: work });
    // A process that stops does not wait for it: what is there is kept.
    thread.unref();
    this.#running = { thread, ended: this.#follow(thread) };
    return this.#state;
  }

  /** Ends the pull of this model and removes what was downloaded. Null where none runs. */
  async cancel(name: string): Promise<PullState | null> {
    if (this.#running === null || this.#state?.model !== name) return null;
    this.#running.thread.postMessage('cancel');
    await this.#running.ended;
    return this.#state;
  }

  async #follow(thread: Worker): Promise<void> {
    const ended = Promise.withResolvers<void>();
    thread.on('message', (message: ThreadMessage) => this.#change(message));
    thread.on('error', ({ message }) => this.#change({ status: 'failed', message }));
    thread.on('exit', () => ended.resolve());
    await ended.promise;
    this.#running = null;
    const isOpen = this.#state?.status === 'running';
    const endedAt = new Date(this.#clock.now());
    this.#change(isOpen ? { status: 'failed', message: 'The pull ended without a result.', endedAt } : { endedAt });
  }

  #change(changed: Partial<PullState>): void {
    this.#state = { ...this.#state!, ...changed };
  }
}
