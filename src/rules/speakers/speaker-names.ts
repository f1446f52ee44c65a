import { cleanLabel } from '../label.ts';

/** Names of speakers by their labels, such as Anna for A. */
export type SpeakerNames = Record<string, string>;

/** A new name for each label; null: the label again. */
export type NameChanges = Record<string, string | null>;

type Part = { speaker?: string | null };
type Segment = Part & { words?: readonly Part[] };

/** In code points. */
export const NAME_MAX_CHARS = 64;

/** The first label that no segment has; null when there is none. */
export function unknownSpeaker(labels: readonly string[], segments: readonly Part[]): string | null {
  const known = new Set(segments.map(({ speaker }) => speaker));
  return labels.find((label) => !known.has(label)) ?? null;
}

/**
 * The names after further changes, without misleading characters.
 * A name of which nothing remains gives the label again.
 */
export function changeNames(names: SpeakerNames, changes: NameChanges): SpeakerNames {
  const changed = new Map(Object.entries(names));
  for (const [label, given] of Object.entries(changes)) {
    const name = cleanLabel(given ?? undefined, NAME_MAX_CHARS);
    if (name === null || name === label) changed.delete(label);
    else changed.set(label, name);
  }
  return Object.fromEntries(changed);
}

/** The segments and their words with names in place of the labels. */
export function nameSpeakers<Spoken extends Segment>(segments: readonly Spoken[], names: SpeakerNames): Spoken[] {
  const known = new Map(Object.entries(names));
  const named = <Any extends Part>(part: Any): Any => {
    const name = part.speaker ? known.get(part.speaker) : undefined;
    return name === undefined ? part : { ...part, speaker: name };
  };
  return segments.map((segment) => ({ ...named(segment), ...(segment.words && { words: segment.words.map(named) }) }));
}
