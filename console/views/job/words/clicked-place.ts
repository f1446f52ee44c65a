/** Where in the text of a segment a click is: the segment's number, and the position in UTF-16 units. */
export type ClickedPlace = { segment: number; offset: number };

type CaretDocument = {
  caretPositionFromPoint?(x: number, y: number): { offsetNode: Node; offset: number } | null;
  caretRangeFromPoint?(x: number, y: number): Range | null;
};

/** The place of a click in the text of a row; null beside it, and while text is being selected. */
export function clickedPlace({ target, clientX, clientY }: MouseEvent): ClickedPlace | null {
  const paragraph = (target as Element).closest<HTMLElement>('[data-segment-text]');
  if (paragraph === null || getSelection()?.isCollapsed === false) return null;
  const segment = Number(paragraph.dataset['segmentText']);
  const caret = caretAt(clientX, clientY);
  return { segment, offset: caret !== null && paragraph.contains(caret.node) ? caret.offset : 0 };
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  const page = document as CaretDocument;
  const position = page.caretPositionFromPoint?.(x, y);
  if (position) return { node: position.offsetNode, offset: position.offset };
  const range = page.caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}
