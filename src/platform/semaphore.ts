/** Lets so many in at once; the others wait in order. */
export type Turnstile = {
  /** Resolves when there is room; disposing what it gives makes room again. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Disposable>;
};

export function openTurnstile(places: number): Turnstile {
  let free = places;
  const waiting: (() => void)[] = [];

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(waiting, signal);
      return { [Symbol.dispose]: leave };
    },
  };
}

function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    waiting.push(enter);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
