const LETTERS = 26;

/** The name of a speaker by its place in the order of first speech: A for 0, …, Z, AA, AB, …. */
function speakerLabel(place: number): string {
  const before = Math.floor(place / LETTERS);
  const letter = String.fromCharCode('A'.charCodeAt(0) + (place % LETTERS));
  return before === 0 ? letter : speakerLabel(before - 1) + letter;
}

/**
 * The labels of voices in the order in which they first speak, without gaps.
 * @param voices  the voices as they speak
 */
export function labelVoices(voices: Iterable<number>): Map<number, string> {
  const labels = new Map<number, string>();
  for (const voice of voices) if (!labels.has(voice)) labels.set(voice, speakerLabel(labels.size));
  return labels;
}
