/**
 * What a text finds, the best first: labels that begin with it, then those with a word that does, then the others that
 * contain it. Of equals the first given comes first.
 * @param found  what the text has found by other words than its label, which comes last
 */
export function bestFirst<Item extends { label: string }>(text: string, items: Item[], found: Item[] = []): Item[] {
  const wanted = text.toLowerCase();
  const rank = ({ label }: Item) => {
    const at = label.toLowerCase().indexOf(wanted);
    if (at <= 0) return at === 0 ? 0 : null;
    const words = label.toLowerCase().split(/[^\p{L}\p{N}]+/u);
    return words.some((word) => word.startsWith(wanted)) ? 1 : 2;
  };
  const ranked = [
    ...items.map((item) => ({ item, rank: rank(item) })).filter((one) => one.rank !== null),
    ...found.map((item) => ({ item, rank: rank(item) ?? 3 })),
  ];
  return ranked.sort((a, b) => a.rank! - b.rank!).map(({ item }) => item);
}
