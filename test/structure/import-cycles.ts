/**
 * Groups of nodes that reach each other along the edges, each sorted by name: strongly connected components of more than
 * one node (Tarjan's algorithm).
 */
export function cyclesOf(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];

  function connect(node: string): void {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) connect(other);
      if (stack.includes(other)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(other)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) found.push(group.sort());
  }

  for (const node of next.keys()) if (!order.has(node)) connect(node);
  return found;
}
