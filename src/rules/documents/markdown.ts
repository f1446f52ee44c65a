import { NO_TEXT, type Paragraph, type TranscriptDocument } from './transcript-document.ts';

/** A transcript as Markdown (CommonMark): a heading, a line of facts, and a paragraph for each turn with its time. */
export function toMarkdown({ title, facts, paragraphs }: TranscriptDocument): string {
  const shown = paragraphs.length > 0 ? paragraphs.map(paragraph) : [`*${NO_TEXT}*`];
  return `${[`# ${escapeMarkup(title).replaceAll('#', '\\#')}`, facts.map(escapeMarkup).join(' · '), ...shown].join('\n\n')}\n`;
}

/** The time stands first, so that no text begins a list, a heading or a quotation. */
function paragraph({ time, name, text }: Paragraph): string {
  const head = name === null ? time : `${time} ${escapeMarkup(name)}:`;
  return `**${head}** ${escapeMarkup(text)}`;
}

/** A backslash before each character that would begin markup, a tag or a character reference. */
function escapeMarkup(text: string): string {
  return text.replace(/[\\`*_~[\]<>&]/g, '\\$&');
}
