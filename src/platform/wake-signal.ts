/** Wakes a loop. A signal between two calls of `next` is kept if `next` is called before the loop looks for work. */
export class WakeSignal {
  #next = Promise.withResolvers<void>();

  send(): void {
    this.#next.resolve();
  }

  next(): Promise<void> {
    this.#next = Promise.withResolvers<void>();
    return this.#next.promise;
  }
}
