/**
 * The results of `work` on each item, in the order of the items; up to `ahead` items are under way at once and the source
 * is read no faster. Once it has thrown or was left early, nothing that it began is running: `abort` must end the rest.
 */
export async function* lookAhead<Item, Result>(
  source: AsyncIterable<Item>,
  { ahead, work, abort }: { ahead: number; work: (item: Item) => Promise<Result>; abort: () => void },
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const item of source) {
      const result = work(item);
      // Whoever waits for an earlier one hears of a failure when its turn comes; until then it is no unhandled rejection.
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
