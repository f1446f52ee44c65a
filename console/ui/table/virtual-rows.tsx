import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { ReactNode, RefObject } from 'react';

// The rows of a long table near the visible part of the page, between two rows that take the place of the others. Used
// by table.tsx only.

/** To be set as `ref` of each row, whose `data-index` is its index. */
export type Measure = (element: Element | null) => void;

// --row of the style sheet. Where a row has another height, the places of all rows after it are computed anew.
const ROW_PX = 44;
const OVERSCAN = 15;

export default function VirtualRows({
  body,
  keys,
  row,
}: {
  body: RefObject<HTMLElement | null>;
  keys: readonly string[];
  row: (index: number, measure: Measure) => ReactNode;
}) {
  const virtual = useWindowVirtualizer({
    count: keys.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: body.current?.offsetTop ?? 0,
    getItemKey: (index) => keys[index]!,
  });
  const items = virtual.getVirtualItems();
  const margin = virtual.options.scrollMargin;
  return (
    <>
      <Spacer heightPx={(items[0]?.start ?? margin) - margin} />
      {items.map(({ index }) => row(index, virtual.measureElement))}
      <Spacer heightPx={virtual.getTotalSize() + margin - (items.at(-1)?.end ?? margin)} />
    </>
  );
}

function Spacer({ heightPx }: { heightPx: number }) {
  if (heightPx <= 0) return null;
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row cannot get the focus
  return <tr aria-hidden="true" className="spacer" style={{ height: heightPx }} />;
}
