/** Who or what is heard in a segment. */
export type Voiced = { speaker?: string | null; channel?: number };

/** A speaker or a channel, with one of eight colours. */
export type Voice = {
  /** Of `voiceOf`. */
  id: string;
  label: string;
  /** 0 to 7. */
  color: number;
  /** How long it is heard, in seconds. */
  seconds: number;
};

const VOICE_COLORS = 8;

/** Names the voice of a segment: its speaker, else its channel; null where the job has neither. */
export function voiceOf({ speaker, channel }: Voiced): string | null {
  if (speaker !== undefined && speaker !== null)
    return channel === undefined ? `s${speaker}` : `s${speaker}/${channel}`;
  return channel === undefined ? null : `c${channel}`;
}

/**
 * The voices of a transcript, in the order in which they are first heard.
 * @param names  that speakers were given, by their labels
 */
export function voicesOf(
  segments: readonly (Voiced & { start: number; end: number })[],
  names: Readonly<Record<string, string>> = {},
): Map<string, Voice> {
  const voices = new Map<string, Voice>();
  for (const segment of segments) {
    const id = voiceOf(segment);
    if (id === null) continue;
    const known = voices.get(id);
    const seconds = Math.max(0, segment.end - segment.start);
    if (known) known.seconds += seconds;
    else voices.set(id, { id, label: labelOf(segment, names), color: voices.size % VOICE_COLORS, seconds });
  }
  return voices;
}

/** Channels are counted from one, as viewers and captions count them. */
function labelOf({ speaker, channel }: Voiced, names: Readonly<Record<string, string>>): string {
  const channelLabel = channel === undefined ? null : `Channel ${channel + 1}`;
  if (speaker === undefined || speaker === null) return channelLabel ?? '';
  const name = Object.hasOwn(names, speaker) ? names[speaker]! : `Speaker ${speaker}`;
  return channelLabel === null ? name : `${name}, ${channelLabel.toLowerCase()}`;
}
