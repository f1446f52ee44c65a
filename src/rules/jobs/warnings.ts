/** Each code of a job's warnings, with its message. Messages hold no text of clients or of their audio. */
export const WARNING_MESSAGES = {
  prompt_unsupported: 'The engine of this plan takes no prompt; it transcribed without it.',
  keywords_unsupported: 'The engine of this plan takes no keywords; it transcribed without them.',
  words_unsupported: 'The engine gives no times of words here: `words` is empty, and segments have times.',
  language_ignored:
    'The engine names another language for this part than the one that was asked for: it may have ignored `language`.',
  speakers_unavailable: 'The speakers could not be found; the text is complete.',
  speakers_uncertain: 'There may be another number of speakers; say how many there are, if you know it.',
  more_audio_tracks:
    'The file has more than one audio track; the first was transcribed. Choose another one by audio_track.',
  duplicate_channels: 'A channel sounds the same as an earlier one: it was neither transcribed nor charged again.',
  silent_channel: 'A channel is silent throughout.',
  audio_truncated: 'The file is cut off: it states that it holds more audio than it does. Its end was not transcribed.',
  audio_after_end:
    'The file goes on after the end of its audio, with bytes that cannot be read as audio. Send what follows as a file of its own.',
  no_speech: 'No speech was heard in the audio: the text is empty.',
  untranscribed:
    'Speech was detected in this part, and the engine gave no text for it; 1.5 s or more were tried again by themselves. It is not charged.',
  repetition:
    'The engine repeated itself in this part as no speaker does, or wrote what nobody said: repeated words are in the text once, invented ones are not.',
  text_cut:
    'This part may lack its end, as the speech is too dense for the model; or it has the spoken words, as replacements would make the text too long.',
  connection_lost: 'The client of the live session did not come back: the audio ends where its connection was lost.',
  audio_gap: 'The client of the live session lost audio: it counts as silence, and is not charged.',
  behind: 'The engine was more than 5 seconds behind the live session at times.',
  segment_failed: 'The engine failed on this part of the live session: its text is missing.',
  more_warnings: 'There are more warnings than a job shows; the message has their number.',
} as const;

export type WarningCode = keyof typeof WARNING_MESSAGES;

/**
 * A warning as the API shows it. `start` and `end`, in seconds, name the part of the audio that it is about; `bytes` is
 * the size of the part of the file.
 */
export type Warning = { code: WarningCode; message: string; start?: number; end?: number; bytes?: number };

/** A warning of an execution: about all of the audio, or about a part of it. */
export type FoundWarning = { code: WarningCode; startSeconds?: number; endSeconds?: number; bytes?: number };

export const MAX_WARNINGS = 20;
const TOUCH_SECONDS = 0.001;

/**
 * The warnings that a job shows, in the order in which they were found: one for each code and part of the audio, where
 * parts that touch are one. At most `MAX_WARNINGS`; a last one has the number of the rest.
 */
export function toWarnings(found: readonly FoundWarning[]): Warning[] {
  const joined: FoundWarning[] = [];
  for (const warning of found) {
    const last = joined.findLast(({ code }) => code === warning.code);
    if (last === undefined || !touches(last, warning)) joined.push({ ...warning });
    else if (last.endSeconds !== undefined) last.endSeconds = Math.max(last.endSeconds, warning.endSeconds!);
  }
  const shown = joined.slice(0, MAX_WARNINGS).map(show);
  const rest = joined.length - shown.length;
  if (rest > 0) shown.push({ code: 'more_warnings', message: `${rest} more warnings are not shown.` });
  return shown;
}

/** A warning without times is about all of the audio, as is another one of its code. */
function touches(last: FoundWarning, next: FoundWarning): boolean {
  if (last.endSeconds === undefined || next.startSeconds === undefined) return last.endSeconds === next.endSeconds;
  return next.startSeconds <= last.endSeconds + TOUCH_SECONDS;
}

function show({ code, startSeconds, endSeconds, bytes }: FoundWarning): Warning {
  const message = WARNING_MESSAGES[code];
  if (bytes !== undefined) return { code, message, bytes };
  if (startSeconds === undefined || endSeconds === undefined) return { code, message };
  return { code, message, start: round(startSeconds), end: round(endSeconds) };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
