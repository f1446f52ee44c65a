/** A line of indented JSON; one that opens an object or a list holds the lines inside and the one that ends it. */
export type JsonLine = { text: string; inside: JsonLine[]; end: string | null };

/** Nests the lines of JSON with a line for each member, as `prettyJson` writes it. Other text stays flat. */
export function nestLines(pretty: string): JsonLine[] {
  const root: JsonLine[] = [];
  const open: JsonLine[][] = [root];
  for (const line of pretty.split('\n')) {
    const text = line.trimStart();
    const isEnd = /^[}\]],?$/.test(text);
    if (isEnd && open.length > 1) {
      open.pop();
      open.at(-1)!.at(-1)!.end = text;
      continue;
    }
    const entry: JsonLine = { text, inside: [], end: null };
    open.at(-1)!.push(entry);
    if (/[{[]$/.test(text) && !isEnd) open.push(entry.inside);
  }
  return root;
}

/** How many members there are at all depths. */
export function countLines(lines: readonly JsonLine[]): number {
  return lines.reduce((sum, { inside }) => sum + 1 + countLines(inside), 0);
}
