type Wake<Item> = { atMs: number; item: Item };

/** Items in the order of their times: a binary heap. An item may be added more than once. */
export class WakeHeap<Item> {
  readonly #heap: Wake<Item>[] = [];

  /** The item with the earliest time. */
  peek(): Wake<Item> | undefined {
    return this.#heap[0];
  }

  push(atMs: number, item: Item): void {
    const heap = this.#heap;
    const added = { atMs, item };
    let index = heap.length;
    heap.push(added);
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (heap[above]!.atMs <= atMs) break;
      heap[index] = heap[above]!;
      index = above;
    }
    heap[index] = added;
  }

  pop(): Wake<Item> | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return top;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.atMs < heap[below]!.atMs) below++;
      if (heap[below]!.atMs >= last.atMs) break;
      heap[index] = heap[below]!;
      index = below;
    }
    heap[index] = last;
    return top;
  }
}
