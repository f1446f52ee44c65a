/** The calls that an engine has, and whether one of them gives words. */
export class CallsUnderWay {
  /** Each resolves to whether it gave words. */
  readonly #calls = new Set<Promise<boolean>>();

  /** @param call  is given what it calls when it has words */
  async during<Result>(call: (gaveWords: () => void) => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#calls.add(promise);
    try {
      return await call(() => resolve(true));
    } finally {
      this.#calls.delete(promise);
      resolve(false);
    }
  }

  /** True once one of the calls that are under way now has given words; false when all have ended without. */
  async giveWords(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const calls = [...this.#calls].map(async (call) => void ((await call) && resolve(true)));
    void Promise.all(calls).then(() => resolve(false));
    return await promise;
  }
}
