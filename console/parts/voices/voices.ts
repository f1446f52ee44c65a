/** Who or what is heard in a segment. */
export type Voiced = { speaker?: string | null; channel?: number };

/** A speaker or a channel, with one of eight colours. */
export type Voice = {
  /** Of `voiceOf`. */
  id: string;
  /** Its label in the transcript, or its name; null for a channel. */
  speaker: string | null;
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
    else {
      const { speaker = null } = segment;
      const color = voices.size % VOICE_COLORS;
      voices.set(id, { id, speaker, label: labelOf(segment, names), color, seconds });
    }
  }
  return voices;
}

/** A segment with the speaker as whom its own is shown. @param merges  as the transcript has them */
export function withMerges<Part extends Voiced>(segment: Part, merges: Readonly<Record<string, string>>): Part {
  const { speaker } = segment;
  return speaker && Object.hasOwn(merges, speaker) ? { ...segment, speaker: merges[speaker]! } : segment;
}

/** The id of the element that shows a voice in the legend. */
export function placeOf({ id }: Pick<Voice, 'id'>): string {
  return `voice-${id}`;
}

/** Channels are counted from one, as viewers and captions count them. */
function labelOf({ speaker, channel }: Voiced, names: Readonly<Record<string, string>>): string {
  const channelLabel = channel === undefined ? null : `Channel ${channel + 1}`;
  if (speaker === undefined || speaker === null) return channelLabel ?? '';
  const name = Object.hasOwn(names, speaker) ? names[speaker]! : `Speaker ${speaker}`;
  return channelLabel === null ? name : `${name}, ${channelLabel.toLowerCase()}`;
}
