/** A stretch of speech as far as its text and times go (an engine's Segment is one). */
export type TimedText = { text: string; startSeconds: number; endSeconds: number };

/** The transcript as one line of text: segments joined by single spaces. */
export function toText(segments: readonly TimedText[]): string {
  return segments
    .map((segment) => oneLine(segment.text))
    .filter((text) => text !== '')
    .join(' ');
}

/** The transcript as SubRip subtitles; the empty string when nothing was said. */
export function toSrt(segments: readonly TimedText[]): string {
  const cues = spoken(segments).map(
    ({ text, startMs, endMs }, index) =>
      `${index + 1}\n${timestamp(startMs, ',')} --> ${timestamp(endMs, ',')}\n${breakArrows(text)}\n`,
  );
  return cues.join('\n');
}

/** The transcript as WebVTT. */
export function toVtt(segments: readonly TimedText[]): string {
  const cues = spoken(segments).map(
    ({ text, startMs, endMs }) => `${timestamp(startMs, '.')} --> ${timestamp(endMs, '.')}\n${escapeVtt(text)}\n`,
  );
  return ['WEBVTT\n', ...cues].join('\n');
}

type Cue = { text: string; startMs: number; endMs: number };

/** Cues with something to show, in whole ms, never ending before they start. */
function spoken(segments: readonly TimedText[]): Cue[] {
  return segments
    .map((segment) => {
      const startMs = wholeMs(segment.startSeconds);
      return { text: oneLine(segment.text), startMs, endMs: Math.max(startMs, wholeMs(segment.endSeconds)) };
    })
    .filter((cue) => cue.text !== '');
}

function wholeMs(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0;
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
