import type { Attempt, Forwarder } from '../delivery/forwarder.ts';
import type { ForwardedEvent } from '../delivery/local-delivery.ts';
import { isSuccess } from '../delivery/post.ts';

const MAX_KEPT = 100;
const INTERRUPT = '\u0003';

/** The last events whose attempts are used up, to be sent again. */
export class KeptEvents {
  readonly #events = new Map<string, ForwardedEvent>();

  add({ event, outcome, retryInMs }: Attempt): void {
    this.#events.delete(event.id);
    if (isSuccess(outcome) || retryInMs !== null) return;
    this.#events.set(event.id, event);
    if (this.#events.size > MAX_KEPT) this.#events.delete(this.#events.keys().next().value!);
  }

  resend(forwarder: Pick<Forwarder, 'accept'>): void {
    const events = [...this.#events.values()];
    this.#events.clear();
    for (const event of events) sendAgain(forwarder, event);
  }
}

/** Sends an event, which does not count for where a later run goes on. */
export function sendAgain(forwarder: Pick<Forwarder, 'accept'>, event: ForwardedEvent): void {
  // Rejected when the run ends.
  forwarder
    .accept(event)
    .then(({ ended }) => ended)
    .catch(() => undefined);
}

type Keyboard = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };

/** The keys of a terminal. `suspend` leaves them to another program, such as an editor, until the work is done. */
export type Keys = Disposable & { suspend<Result>(work: () => Promise<Result>): Promise<Result> };

/**
 * Calls the action of each key that is pressed, until it is disposed. Ctrl-C still interrupts the process.
 * @param actions  by the character of the key, or the escape sequence of an arrow: `\u001b[A`
 */
export function readKeys(keyboard: Keyboard, actions: Record<string, () => void>): Keys {
  const onData = (data: Buffer | string) => {
    for (const [key] of String(data).matchAll(/\u001b\[[A-Z]|[\s\S]/gu)) {
      if (key === INTERRUPT) process.kill(process.pid, 'SIGINT');
      else if (Object.hasOwn(actions, key)) actions[key]!();
    }
  };
  const begin = () => {
    keyboard.setRawMode?.(true);
    keyboard.on('data', onData).resume();
  };
  const end = () => {
    keyboard.off('data', onData).pause();
    keyboard.setRawMode?.(false);
  };
  let isDisposed = false;
  begin();
  return {
    async suspend(work) {
      end();
      return await work().finally(() => isDisposed || begin());
    },
    [Symbol.dispose]() {
      isDisposed = true;
      end();
    },
  };
}
