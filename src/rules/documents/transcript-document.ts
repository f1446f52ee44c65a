/** A transcript for readers: what Markdown, DOCX and PDF show. All texts are single lines. */
export type TranscriptDocument = {
  title: string;
  /** Date, length, model and language, as far as they are known. */
  facts: string[];
  paragraphs: Paragraph[];
};

/** What one voice says, for about a minute at most. */
export type Paragraph = {
  /** Whole hours, minutes and seconds, such as 00:01:05. */
  time: string;
  /** Null where speakers are not known or not shown. */
  name: string | null;
  text: string;
};

/** A segment of a transcript, with who speaks; null: not known or not shown. */
export type DocumentSegment = { startSeconds: number; text: string; name?: string | null };

/** What is known of a transcript beside its text; null: not known. */
export type DocumentFacts = {
  createdAt: Date;
  durationMs: number | null;
  model: string | null;
  /** A language code. */
  language: string | null;
  /** The language code of a translation. */
  translatedTo: string | null;
  isEdited: boolean;
};

/** What a document of a transcript without words shows. */
export const NO_TEXT = 'The transcript has no text.';

// A reader finds a place in the audio within a minute, and lines of one voice do not become a wall of text.
const PARAGRAPH_SECONDS = 60;

/** A transcript for readers. A paragraph ends where the name changes, and with the first segment after a minute. */
export function transcriptDocument(
  title: string,
  segments: readonly DocumentSegment[],
  facts: DocumentFacts,
): TranscriptDocument {
  return { title: oneLine(title), facts: factTexts(facts).map(oneLine), paragraphs: paragraphsOf(segments) };
}

function paragraphsOf(segments: readonly DocumentSegment[]): Paragraph[] {
  const open: { startSeconds: number; name: string | null; texts: string[] }[] = [];
  for (const { startSeconds, name = null, ...segment } of segments) {
    const text = oneLine(segment.text);
    if (text === '') continue;
    const last = open.at(-1);
    if (last?.name === name && startSeconds - last.startSeconds < PARAGRAPH_SECONDS) last.texts.push(text);
    else open.push({ startSeconds, name, texts: [text] });
  }
  return open.map(({ startSeconds, name, texts }) => ({
    time: clockTime(startSeconds),
    name: name === null ? null : oneLine(name),
    text: texts.join(' '),
  }));
}

function factTexts({ createdAt, durationMs, model, language, translatedTo, isEdited }: DocumentFacts): string[] {
  const [date, time] = createdAt.toISOString().split('T');
  return [
    `${date} ${time!.slice(0, 5)} UTC`,
    ...(durationMs === null ? [] : [clockTime(durationMs / 1000)]),
    ...(model === null ? [] : [model]),
    ...(language === null ? [] : [languageName(language)]),
    ...(translatedTo === null ? [] : [`translated to ${languageName(translatedTo)}`]),
    ...(isEdited ? ['edited'] : []),
  ];
}

/** 00:00:00; hours grow past two digits when they must. */
function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  return [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** The name in English; the code where it has none. */
function languageName(code: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code;
  } catch {
    // An engine may report what is no language code.
    return code;
  }
}

/** White space and control characters fold into single spaces: no format has to show them. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
