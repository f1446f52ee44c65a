/** An element that was to be added: `known` is when its addition was acknowledged, Infinity when it never was. */
export type Addition = { element: string; call: number; known: number };

/** A read of all elements. */
export type Read = { call: number; return: number; elements: readonly string[] };

/** Elements that the reads contradict. */
export type SetFindings = { lost: string[]; stale: string[]; duplicated: string[]; unexpected: string[] };

/**
 * Jepsen's set-full. An element is known from its acknowledgement or from the end of the first read that has it. It is
 * lost when it was known before the last read without it began, and no later read has it; stale when a read without it
 * began after it was known, and a later one has it. Beyond it: elements that are twice in a read, or that nobody added.
 */
export function setFull(additions: Addition[], reads: Read[]): SetFindings {
  const sets = reads.map((read) => ({ ...read, has: new Set(read.elements) }));
  const added = new Set(additions.map(({ element }) => element));
  const findings: SetFindings = {
    lost: [],
    stale: [],
    duplicated: reads.flatMap(({ elements }) => repeated(elements)),
    unexpected: [...new Set(reads.flatMap(({ elements }) => elements))].filter((element) => !added.has(element)),
  };
  for (const { element, known: acknowledged } of additions) {
    const [having, lacking] = [sets.filter(({ has }) => has.has(element)), sets.filter(({ has }) => !has.has(element))];
    const known = Math.min(acknowledged, ...having.map((read) => read.return));
    const lastPresent = Math.max(-1, ...having.map(({ call }) => call));
    const lastAbsent = Math.max(-1, ...lacking.map(({ call }) => call));
    if (lastAbsent <= known) continue;
    if (lastPresent < lastAbsent) findings.lost.push(element);
    else findings.stale.push(element);
  }
  return findings;
}

/** What went in and what came out of a queue. */
export type QueueFindings = { lost: string[]; unexpected: string[] };

/** Jepsen's queue, at least once: what was enqueued comes out, and nothing else. */
export function queue(enqueued: Iterable<string>, dequeued: Iterable<string>): QueueFindings {
  const [into, out] = [new Set(enqueued), new Set(dequeued)];
  return {
    lost: [...into].filter((element) => !out.has(element)),
    unexpected: [...out].filter((element) => !into.has(element)),
  };
}

function repeated(elements: readonly string[]): string[] {
  const seen = new Set<string>();
  return elements.filter((element) => seen.size === seen.add(element).size);
}
