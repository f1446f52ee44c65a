/** An interval in which one voice speaks. Turns of different voices may overlap. */
export type Turn = { startSeconds: number; endSeconds: number; voice: number };

/** How many speakers there may be. An exact number is both bounds. */
export type SpeakerBounds = { min: number; max: number };

/** The largest number of speakers that a request may name. */
export const SPEAKERS_MAX = 32;

/** A shorter pause does not end a turn. */
export const TURN_PAUSE_SECONDS = 0.3;

/** The turns with other numbers for their voices, in order; turns with a short pause and the same number become one. */
export function renumberTurns(turns: readonly Turn[], numberOf: (voice: number) => number): Turn[] {
  const joined: Turn[] = [];
  const lastOf = new Map<number, Turn>();
  const inOrder = turns.toSorted((one, other) => one.startSeconds - other.startSeconds);
  for (const turn of inOrder) {
    const voice = numberOf(turn.voice);
    const last = lastOf.get(voice);
    if (last !== undefined && turn.startSeconds - last.endSeconds < TURN_PAUSE_SECONDS) {
      last.endSeconds = Math.max(last.endSeconds, turn.endSeconds);
      continue;
    }
    const own = { ...turn, voice };
    lastOf.set(voice, own);
    joined.push(own);
  }
  return joined;
}

/** The seconds that each voice speaks. */
export function secondsOfVoices(turns: readonly Turn[]): Map<number, number> {
  const seconds = new Map<number, number>();
  for (const { voice, startSeconds, endSeconds } of turns) {
    seconds.set(voice, (seconds.get(voice) ?? 0) + endSeconds - startSeconds);
  }
  return seconds;
}

/** The parts of the turns in which only one voice speaks, in order. */
export function soloParts(turns: readonly Turn[]): Turn[] {
  const edges = turns
    .flatMap(({ startSeconds, endSeconds, voice }) => [
      { atSeconds: startSeconds, voice, change: 1 },
      { atSeconds: endSeconds, voice, change: -1 },
    ])
    .sort((one, other) => one.atSeconds - other.atSeconds);
  const speaking = new Map<number, number>();
  const parts: Turn[] = [];
  let startSeconds = 0;
  for (const { atSeconds, voice, change } of edges) {
    const [only, ...others] = speaking.keys();
    if (only !== undefined && others.length === 0 && atSeconds > startSeconds) {
      parts.push({ startSeconds, endSeconds: atSeconds, voice: only });
    }
    const count = (speaking.get(voice) ?? 0) + change;
    if (count === 0) speaking.delete(voice);
    else speaking.set(voice, count);
    startSeconds = atSeconds;
  }
  return parts;
}
