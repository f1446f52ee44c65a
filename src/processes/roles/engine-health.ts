import { type Engine, EngineError } from '../../engines/engine.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RoleStatus } from '../messages.ts';
import type { RoleContext } from './role.ts';

type Plans = { lite: Engine; pro: Engine };
type Context = Pick<RoleContext, 'clock' | 'log' | 'report'>;

// A check decodes one second of audio, or connects to a remote server.
const POLL_EVERY_MS = 1_000;
const CHECK_EVERY_MS = 60_000;
const CHECK_WHILE_UNREADY_EVERY_MS = 5_000;

/**
 * Reports the status of engines that have worked once: ready at first, and not ready while one of them fails. An engine
 * without a successful transcription for a minute is checked.
 * @returns the engines to use from now on, and a promise that resolves after the signal
 */
export function watchEngines(
  { lite, pro }: Plans,
  context: Context,
  signal: AbortSignal,
): { engines: Plans; watching: Promise<void> } {
  const watchedLite = watched(lite, context.clock);
  const watchedPro = pro === lite ? watchedLite : watched(pro, context.clock);
  const engines = { lite: watchedLite.engine, pro: watchedPro.engine };
  return { engines, watching: watchAll([...new Set([watchedLite, watchedPro])], context, signal) };
}

type Watched = {
  engine: Engine;
  /** Why the engine cannot work; null if it works. */
  trouble(): unknown;
  /** Checks the engine if the last success was too long ago. */
  checkWhenDue(): Promise<void>;
};

function watched(engine: Engine, clock: Clock): Watched {
  let underWay = 0;
  let lastSuccessAtMs = clock.now();
  let failure: unknown = null;

  async function check(): Promise<void> {
    failure = await engine.warmUp().then(
      () => null,
      (error: unknown) => error,
    );
    lastSuccessAtMs = clock.now();
  }

  const trouble = () => failure ?? engine.trouble?.() ?? null;

  return {
    engine: {
      ...engine,
      async transcribe(piece, options) {
        underWay += 1;
        try {
          const transcript = await engine.transcribe(piece, options);
          // Silence gives no segments without use of the engine.
          if (transcript.segments.length > 0) {
            failure = null;
            lastSuccessAtMs = clock.now();
          }
          return transcript;
        } finally {
          underWay -= 1;
        }
      },
    },
    trouble,
    async checkWhenDue() {
      const everyMs = trouble() === null ? CHECK_EVERY_MS : CHECK_WHILE_UNREADY_EVERY_MS;
      if (underWay === 0 && clock.now() - lastSuccessAtMs >= everyMs) await check();
    },
  };
}

async function watchAll(all: Watched[], { clock, log, report }: Context, signal: AbortSignal): Promise<void> {
  let reported: string | null = null;
  while (!signal.aborted) {
    const status = engineStatus(all.flatMap((one) => one.trouble() ?? []));
    const text = status.reasons.join(' ');
    if (text !== reported) {
      report(status);
      if (text !== '') log.warn({ reasons: status.details }, 'an engine does not work');
      else if (reported !== null) log.info('the engines work again');
      reported = text;
    }
    await clock.sleep(POLL_EVERY_MS, signal);
    if (!signal.aborted) await untilDone(Promise.all(all.map((one) => one.checkWhenDue())), signal);
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

/** A stop does not wait for a slow check: the engine is closed next. */
function untilDone(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop));
}
