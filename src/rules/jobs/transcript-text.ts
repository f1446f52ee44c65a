import { type CaptionSegment, wholeMs } from '../captions/caption-words.ts';
import { type CaptionOptions, type Cue, shapeCaptions } from '../captions/captions.ts';
import { lastingCues } from '../captions/cue-times.ts';

/** The transcript as text: the segments joined by single spaces, those of several channels one per line. */
export function toText(segments: readonly Pick<CaptionSegment, 'text' | 'channel'>[]): string {
  const isOneChannel = segments.every(({ channel }) => channel === segments[0]!.channel);
  return segments
    .map((segment) => oneLine(segment.text))
    .filter((text) => text !== '')
    .join(isOneChannel ? ' ' : '\n');
}

/** The transcript as text with its speakers: a line for each turn, after the name of the speaker where there is one. */
export function toTurns(segments: readonly { text: string; speaker?: string | null; channel?: number }[]): string {
  const turns: { speaker: string | null; channel?: number | undefined; text: string }[] = [];
  for (const { speaker = null, channel, ...segment } of segments) {
    const text = oneLine(segment.text);
    const last = turns.at(-1);
    if (text === '') continue;
    if (last && last.speaker === speaker && last.channel === channel) last.text += ` ${text}`;
    else turns.push({ speaker, channel, text });
  }
  return turns.map(({ speaker, text }) => (speaker === null ? text : `${speaker}: ${text}`)).join('\n');
}

/**
 * The transcript as SubRip captions; the empty string when nothing was said. A name stands before the text where the
 * speaker changes.
 * @param shape    null: one caption per segment
 * @param audioMs  the length of the audio: no caption ends after it. Each is shown for at least 0.2 s.
 */
export function toSrt(
  segments: readonly CaptionSegment[],
  shape: CaptionOptions | null = null,
  audioMs = Number.POSITIVE_INFINITY,
): string {
  const cues = cuesOf(segments, shape, { hasPrefixes: true, audioMs }).map(
    ({ lines, startMs, endMs }, index) =>
      `${index + 1}\n${timestamp(startMs, ',')} --> ${timestamp(endMs, ',')}\n${lines.map(breakArrows).join('\n')}\n`,
  );
  return cues.join('\n');
}

/** The transcript as WebVTT; names are its voice tags. The parameters are those of `toSrt`. */
export function toVtt(
  segments: readonly CaptionSegment[],
  shape: CaptionOptions | null = null,
  audioMs = Number.POSITIVE_INFINITY,
): string {
  const cues = cuesOf(segments, shape, { hasPrefixes: false, audioMs }).map(
    ({ lines, startMs, endMs, name }) =>
      `${timestamp(startMs, '.')} --> ${timestamp(endMs, '.')}\n${voiceTag(name)}${lines.map(escapeVtt).join('\n')}\n`,
  );
  return ['WEBVTT\n', ...cues].join('\n');
}

function voiceTag(name: string | undefined): string {
  return name === undefined ? '' : `<v ${escapeVtt(name)}>`;
}

function cuesOf(
  segments: readonly CaptionSegment[],
  shape: CaptionOptions | null,
  { hasPrefixes, audioMs }: { hasPrefixes: boolean; audioMs: number },
): Cue[] {
  const cues = shape ? shapeCaptions(segments, shape, { hasPrefixes }) : segmentCues(segments, hasPrefixes);
  return lastingCues(cues, audioMs);
}

function segmentCues(segments: readonly CaptionSegment[], hasPrefixes: boolean): Cue[] {
  const cues = segments
    .map(({ text, startSeconds, endSeconds, name, channel }): Cue => {
      const times = { startMs: wholeMs(startSeconds), endMs: wholeMs(endSeconds) };
      return { lines: [oneLine(text)], ...times, ...(name && { name }), ...(channel !== undefined && { channel }) };
    })
    .filter(({ lines }) => lines[0] !== '');
  if (!hasPrefixes) return cues;
  return cues.map((cue, at) => {
    const isShown = cue.name !== undefined && cue.name !== cues[at - 1]?.name;
    return isShown ? { ...cue, lines: [`${cue.name}: ${cue.lines[0]}`] } : cue;
  });
}

/** 00:00:00,000; hours grow past two digits when they must. */
function timestamp(ms: number, decimalMark: ',' | '.'): string {
  const digits = (value: number, count: number) => String(value).padStart(count, '0');
  const [hours, minutes, seconds] = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 1000) % 60,
  ];
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}${decimalMark}${digits(ms % 1000, 3)}`;
}

/** A blank line would end the cue, so all white space and control characters fold into single spaces. */
function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f\u0085]+/g, ' ').trim();
}

/** SubRip has no escapes: an arrow in the text is broken up so that no player takes the line for a timing. */
function breakArrows(text: string): string {
  return text.replaceAll('-->', '-- >');
}

function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
