/**
 * The results of `work` on each item, in the order of the items. At most `ahead` items are under way at once; the
 * source is read no faster. When the generator throws or is left early, it calls `abort`, which must end the work that
 * is still running, and waits for that work.
 */
export async function* lookAhead<Item, Result>(
  source: AsyncIterable<Item>,
  { ahead, work, abort }: { ahead: number; work: (item: Item) => Promise<Result>; abort: () => void },
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const item of source) {
      const result = work(item);
      // A failure is thrown below, in the order of the items. Until then it must not count as an unhandled rejection.
      result.catch(() => undefined);
      underWay.push(result);
      if (underWay.length >= ahead) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    if (underWay.length > 0) {
      abort();
      await Promise.allSettled(underWay);
    }
  }
}
