/**
 * A URL in a cell of a table: where it is too long its beginning is cut off, as URLs differ at their end.
 * @param title  shown under the pointer
 */
export function CutUrl({ url, title = url }: { url: string; title?: string }) {
  return (
    <span className="cut-url" title={title}>
      <bdi dir="ltr">{url}</bdi>
    </span>
  );
}
