/** A caption: its time in seconds, its lines, and who speaks where the file says so. */
export type Cue = { start: number; end: number; lines: string[]; speaker: string | null };

const TIMES = /^(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3}) --> (?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})/;
const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': '\u00a0',
  '&lrm;': '\u200e',
  '&rlm;': '\u200f',
};
// Captions of several channels overlap; more than this many at the same time are not looked for.
const MAX_OVERLAP = 8;

/** The captions of an SRT or WebVTT file, in its order. What is no caption is left out. */
export function readCaptions(text: string, format: 'srt' | 'vtt'): Cue[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .flatMap((block) => {
      const lines = block.split('\n').filter((line) => line !== '');
      const at = lines.findIndex((line) => TIMES.test(line));
      // A number or a name may stand before the times.
      return at < 0 || at > 1 ? [] : [cueOf(lines[at]!, lines.slice(at + 1), format)];
    });
}

/** The captions that are shown at a time. @param cues  by their start */
export function cuesAt(cues: readonly Cue[], seconds: number): Cue[] {
  let low = 0;
  let high = cues.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cues[middle]!.start <= seconds) low = middle + 1;
    else high = middle;
  }
  return cues.slice(Math.max(0, low - MAX_OVERLAP), low).filter(({ end }) => seconds < end);
}

/** Characters per second: what viewers have to read. */
export function readingSpeed({ start, end, lines }: Cue): number {
  const characters = lines.join(' ').length;
  return end > start ? characters / (end - start) : Number.POSITIVE_INFINITY;
}

function cueOf(times: string, lines: string[], format: 'srt' | 'vtt'): Cue {
  const [, ...parts] = TIMES.exec(times)!;
  const [h1, m1, s1, ms1, h2, m2, s2, ms2] = parts.map((part) => Number(part ?? 0)) as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ];
  const start = h1 * 3600 + m1 * 60 + s1 + ms1 / 1000;
  const end = h2 * 3600 + m2 * 60 + s2 + ms2 / 1000;
  if (format === 'srt') return { start, end, lines, speaker: null };
  const [, speaker = null, rest] = /^(?:<v ([^>]*)>)?(.*)$/s.exec(lines.join('\n'))!;
  return { start, end, lines: plain(rest!).split('\n'), speaker: speaker === null ? null : plain(speaker) };
}

/** The text of a WebVTT cue without tags and escapes. */
function plain(text: string): string {
  return text.replace(/<[^<>]*>/g, '').replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);
}
