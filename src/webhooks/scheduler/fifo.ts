/** A queue, first in, first out. Both operations take constant time on average. */
export class Fifo<Item> {
  #items: Item[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  shift(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head++];
    // Copies the rest when half of the array is unused, so each item is copied at most once on average.
    if (this.#head >= 64 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
