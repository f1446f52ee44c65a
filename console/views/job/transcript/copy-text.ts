import { clockTime } from '../../../text/format.ts';

/** A segment as it is copied. */
export type CopiedSegment = { start: number; text: string; voice: string | null };

/**
 * The transcript as text: a paragraph for each voice that follows another one, or a line with its time for each
 * segment.
 */
export function transcriptText(segments: readonly CopiedSegment[], { hasTimes }: { hasTimes: boolean }): string {
  return hasTimes ? segments.map(timedLine).join('\n') : paragraphs(segments).join('\n\n');
}

function timedLine({ start, text, voice }: CopiedSegment): string {
  return `[${clockTime(start, 1)}] ${voice === null ? '' : `${voice}: `}${text.trim()}`;
}

function paragraphs(segments: readonly CopiedSegment[]): string[] {
  const parts: { voice: string | null; texts: string[] }[] = [];
  for (const { text, voice } of segments) {
    const last = parts.at(-1);
    if (last && last.voice === voice) last.texts.push(text.trim());
    else parts.push({ voice, texts: [text.trim()] });
  }
  return parts.map(({ voice, texts }) => `${voice === null ? '' : `${voice}: `}${texts.join(' ')}`);
}
