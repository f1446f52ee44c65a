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
    for (const event of events) {
      // Rejected when the run ends.
      forwarder
        .accept(event)
        .then(({ ended }) => ended)
        .catch(() => undefined);
    }
  }
}

type Keyboard = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };

/** Calls the action of each key that is pressed, until it is disposed. Ctrl-C still interrupts the process. */
export function readKeys(keyboard: Keyboard, actions: Record<string, () => void>): Disposable {
  const onData = (data: Buffer | string) => {
    for (const key of String(data)) {
      if (key === INTERRUPT) process.kill(process.pid, 'SIGINT');
      else if (Object.hasOwn(actions, key)) actions[key]!();
    }
  };
  keyboard.setRawMode?.(true);
  keyboard.on('data', onData).resume();
  return {
    [Symbol.dispose]() {
      keyboard.off('data', onData).pause();
      keyboard.setRawMode?.(false);
    },
  };
}
