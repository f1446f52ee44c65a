import type { SpeakerNames } from './speaker-names.ts';

/** Speakers that are shown as another one, by their labels, such as A for B. No speaker is merged into a merged one. */
export type SpeakerMerges = Record<string, string>;

/** The speaker into which each label is merged; null: it is shown by itself again. */
export type MergeChanges = Record<string, string | null>;

/**
 * The merges after further changes, one after the other; null where a speaker would be merged into itself. Whoever is
 * merged into a speaker goes with it.
 */
export function changeMerges(merges: SpeakerMerges, changes: MergeChanges): SpeakerMerges | null {
  const changed = new Map(Object.entries(merges));
  for (const [label, target] of Object.entries(changes)) {
    changed.delete(label);
    if (target === null) continue;
    const into = changed.get(target) ?? target;
    if (into === label) return null;
    changed.set(label, into);
    for (const [other, its] of changed) if (its === label) changed.set(other, into);
  }
  return Object.fromEntries(changed);
}

/** The names of the speakers that are shown; null where none of them has one. */
export function shownNames(names: SpeakerNames | null, merges: SpeakerMerges | null): SpeakerNames | null {
  const shown = Object.entries(names ?? {}).filter(([label]) => !Object.hasOwn(merges ?? {}, label));
  return shown.length === 0 ? null : Object.fromEntries(shown);
}
