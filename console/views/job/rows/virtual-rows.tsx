import { defaultRangeExtractor, useWindowVirtualizer, windowScroll } from '@tanstack/react-virtual';
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';

/** What a parent may do with the rows. */
export type Rows = {
  /** Scrolls so that a row is in the middle of what the reader sees; not at all where it is near it already. */
  show(index: number, options?: { isForced?: boolean }): void;
};

const ROW_PX = 64;
const OVERSCAN = 8;
const OWN_SCROLL_TOLERANCE_PX = 3;
// The part of the window in which the spoken row stays.
const TOP_SHARE = 0.25;
const BOTTOM_SHARE = 0.75;

/**
 * A list of any length that scrolls with the page: only the rows near the visible part are in the page.
 * @param kept  a row that stays in the page wherever the reader scrolls, such as one that is being edited
 */
export function VirtualRows({
  count,
  label,
  kept = null,
  ref,
  onReaderScroll,
  children,
}: {
  count: number;
  label: string;
  kept?: number | null;
  ref?: Ref<Rows>;
  /** Called when the page was scrolled by anything but `show`. */
  onReaderScroll?: () => void;
  children: (index: number) => ReactNode;
}) {
  const list = useRef<HTMLOListElement>(null);
  const ownScrollTo = useRef<number | null>(null);
  const top = useTopOf(list);
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: top,
    rangeExtractor(range) {
      const indexes = defaultRangeExtractor(range);
      const isMissing = kept !== null && kept < count && !indexes.includes(kept);
      return isMissing ? [...indexes, kept].sort((left, right) => left - right) : indexes;
    },
    scrollToFn(offset, options, instance) {
      ownScrollTo.current = offset + (options.adjustments ?? 0);
      windowScroll(offset, options, instance);
    },
  });
  useReaderScroll(ownScrollTo, onReaderScroll);
  useImperativeHandle(ref, () => ({
    show(index, { isForced = false } = {}) {
      const item = virtual.measurementsCache[index];
      if (item && (isForced || !isInView(item.start))) virtual.scrollToIndex(index, { align: 'center' });
    },
  }));
  return (
    <ol className="segments" aria-label={label} ref={list} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => (
        <li
          key={key}
          data-index={index}
          ref={virtual.measureElement}
          aria-posinset={index + 1}
          aria-setsize={count}
          style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
        >
          {children(index)}
        </li>
      ))}
    </ol>
  );
}

function isInView(startPx: number): boolean {
  const at = (startPx - scrollY) / innerHeight;
  return at > TOP_SHARE && at < BOTTOM_SHARE;
}

/** The distance of an element from the top of the document, which changes with what is above it. */
function useTopOf(element: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setTop(Math.round(element.current!.getBoundingClientRect().top + scrollY));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}

function useReaderScroll(ownScrollTo: React.RefObject<number | null>, onReaderScroll: (() => void) | undefined): void {
  const latest = useRef(onReaderScroll);
  latest.current = onReaderScroll;
  useEffect(() => {
    let lastY = scrollY;
    const onScroll = () => {
      const furthest = document.documentElement.scrollHeight - innerHeight;
      const target = ownScrollTo.current === null ? null : Math.max(0, Math.min(ownScrollTo.current, furthest));
      const isOwn = target !== null && Math.abs(scrollY - target) <= OWN_SCROLL_TOLERANCE_PX;
      if (!isOwn && Math.abs(scrollY - lastY) > OWN_SCROLL_TOLERANCE_PX) latest.current?.();
      lastY = scrollY;
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, [ownScrollTo]);
}
