import type { Engine } from '../../engines/engine.ts';
import { EngineError } from '../../engines/engine.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { RoleStatus } from '../messages.ts';

type Plans = { lite: Engine; pro: Engine };
type WatchDeps = { clock: Clock; log: Log; report: (status: RoleStatus) => void; signal: AbortSignal };

// A look costs nothing; a proof is one second of sound to decode, or a connection to a remote server.
const LOOK_EVERY_MS = 1_000;
const PROOF_EVERY_MS = 60_000;
const PROOF_WHILE_UNREADY_EVERY_MS = 5_000;

/**
 * Keeps /readyz honest about engines that have once worked: ready from the start, and not ready while one fails. An engine
 * that did nothing for a minute has to prove itself once more; work that succeeds is proof enough.
 * @returns the engines to work with from now on, and the watch's end, which follows the signal
 */
export function watchEngines({ lite, pro }: Plans, deps: WatchDeps): { engines: Plans; watching: Promise<void> } {
  const watchedLite = watched(lite, deps.clock);
  const watchedPro = pro === lite ? watchedLite : watched(pro, deps.clock);
  const engines = { lite: watchedLite.engine, pro: watchedPro.engine };
  return { engines, watching: watchAll([...new Set([watchedLite, watchedPro])], deps) };
}

type Watched = {
  engine: Engine;
  /** Why it cannot work; null when it can. */
  trouble(): unknown;
  /** Lets it prove itself, when it is time for that. */
  proveWhenDue(): Promise<void>;
};

function watched(engine: Engine, clock: Clock): Watched {
  let underWay = 0;
  let provenAtMs = clock.now();
  let failure: unknown = null;

  async function prove(): Promise<void> {
    failure = await engine.warmUp().then(
      () => null,
      (error: unknown) => error,
    );
    provenAtMs = clock.now();
  }

  const trouble = () => failure ?? engine.trouble?.() ?? null;

  return {
    engine: {
      ...engine,
      async transcribe(piece, options) {
        underWay += 1;
        try {
          const transcript = await engine.transcribe(piece, options);
          // Silence is answered without the engine.
          if (transcript.segments.length > 0) {
            failure = null;
            provenAtMs = clock.now();
          }
          return transcript;
        } finally {
          underWay -= 1;
        }
      },
    },
    trouble,
    async proveWhenDue() {
      const everyMs = trouble() === null ? PROOF_EVERY_MS : PROOF_WHILE_UNREADY_EVERY_MS;
      if (underWay === 0 && clock.now() - provenAtMs >= everyMs) await prove();
    },
  };
}

async function watchAll(all: Watched[], { clock, log, report, signal }: WatchDeps): Promise<void> {
  let told: string | null = null;
  while (!signal.aborted) {
    const status = engineStatus(all.flatMap((one) => one.trouble() ?? []));
    const text = status.reasons.join(' ');
    if (text !== told) {
      report(status);
      if (text !== '') log.warn({ reasons: status.details }, 'an engine does not work');
      else if (told !== null) log.info('the engines work again');
      told = text;
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
    if (!signal.aborted) await untilDone(Promise.all(all.map((one) => one.proveWhenDue())), signal);
  }
}

/** The status of engines that failed with these errors; ready when there are none. */
export function engineStatus(errors: unknown[]): RoleStatus {
  if (errors.length === 0) return { ready: true, reasons: [] };
  const reasons = errors.map((error) =>
    error instanceof EngineError ? error.message : 'A speech engine cannot start; the log says why.',
  );
  return { ready: false, reasons, details: errors.map(describeWithCauses) };
}

function describeWithCauses(error: unknown): string {
  const { message = String(error), cause } = (error ?? {}) as Partial<Error>;
  return cause === undefined ? message : `${message} (${describeWithCauses(cause)})`;
}

/** A proof may take long; a stop does not wait for it, since the engine is closed next. */
function untilDone(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop));
}
