import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { StreamFrame } from '#sdk/client/index.ts';
import type { Page } from '#sdk/wire.ts';
import { useStore } from '../session/store.ts';
import { liveState, useLive } from './live.ts';

type Cached<Item> = InfiniteData<Page<Item>, string | null>;

export type List<Item> = {
  items: Item[];
  /** Rows that came since the list was read; `showNew` reads it again. */
  newCount: number;
  showNew: () => void;
  hasMore: boolean;
  loadMore: () => void;
  isLoadingMore: boolean;
  data: Item[] | undefined;
  error: unknown;
  refetch: () => void;
};

// Where there is no stream.
const POLL_MS = 15_000;

/**
 * A list of the API, newest first, that follows the account's stream: a row that changes is replaced in its place, and
 * rows that are new are counted and not inserted, so that nothing moves under the cursor.
 * @param key      of the query: the name of the list, and its filters
 * @param read     the page at a cursor; null: the first
 * @param changed  the row that a frame of the stream shows; null: the frame is about something else
 * @param isListed whether the filters let a row through; absent: every row
 */
export function useLiveList<Item extends { id: string }>({
  key,
  read,
  changed,
  isListed = () => true,
}: {
  key: readonly unknown[];
  read: (cursor: string | null) => PromiseLike<Page<Item>>;
  changed?: (frame: StreamFrame) => Item | null;
  isListed?: (item: Item) => boolean;
}): List<Item> {
  const client = useQueryClient();
  const isPolling = useStore(liveState) === 'polling' && changed !== undefined;
  const [fresh, setFresh] = useState<{ of: string; ids: ReadonlySet<string> }>({ of: '', ids: new Set() });
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam }) => await read(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<Item>) => page.next_cursor,
    refetchInterval: isPolling ? POLL_MS : false,
    // It would read every page again, and rows would move.
    refetchOnWindowFocus: isPolling,
  });
  const items = query.data?.pages.flatMap(({ data }) => data);
  const name = JSON.stringify(key);
  const ids = fresh.of === name ? fresh.ids : new Set<string>();

  const onItem = (item: Item) => {
    const cached = client.getQueryData<Cached<Item>>(key);
    if (!cached) return;
    if (cached.pages.some(({ data }) => data.some(({ id }) => id === item.id))) {
      client.setQueryData<Cached<Item>>(key, replaceItem(cached, item));
    } else if (isListed(item) && isNewer(item, cached)) {
      setFresh((before) => ({ of: name, ids: new Set([...(before.of === name ? before.ids : []), item.id]) }));
    }
  };
  useLive(
    changed
      ? (frame) => {
          const item = changed(frame);
          if (item) onItem(item);
        }
      : null,
  );

  const showNew = () => {
    setFresh({ of: name, ids: new Set() });
    // One page: the rows after it are read again when they are asked for.
    client.setQueryData<Cached<Item>>(key, (cached) =>
      cached ? { pages: cached.pages.slice(0, 1), pageParams: cached.pageParams.slice(0, 1) } : cached,
    );
    void query.refetch();
  };
  return {
    items: items ?? [],
    newCount: ids.size,
    showNew,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
    isLoadingMore: query.isFetchingNextPage,
    data: items,
    error: query.error,
    refetch: () => void query.refetch(),
  };
}

/** Ids sort by time. After a reconnection the stream repeats rows of the last seconds, which may be on later pages. */
function isNewer<Item extends { id: string }>(item: Item, { pages }: Cached<Item>): boolean {
  const newest = pages[0]?.data[0];
  return newest === undefined || item.id > newest.id;
}

function replaceItem<Item extends { id: string }>(cached: Cached<Item>, item: Item): Cached<Item> {
  return {
    ...cached,
    pages: cached.pages.map((page) => ({
      ...page,
      data: page.data.map((before) => (before.id === item.id ? item : before)),
    })),
  };
}
