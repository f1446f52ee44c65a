import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Font, openSync } from 'fontkit';
import PDFDocument from 'pdfkit';
import { ROOT } from '../../platform/installation.ts';
import { unshownCharacters, visibleText } from '../../rules/documents/shown-characters.ts';
import { NO_TEXT, type TranscriptDocument } from '../../rules/documents/transcript-document.ts';

/** A transcript as a PDF file, or the characters that it cannot show. */
export type PdfResult = { kind: 'file'; content: Uint8Array } | { kind: 'unshown'; characters: string[] };

type Pdf = InstanceType<typeof PDFDocument>;

const FONTS = {
  regular: path.join(ROOT, 'assets/fonts/DejaVuSans.ttf'),
  bold: path.join(ROOT, 'assets/fonts/DejaVuSans-Bold.ttf'),
};
// In points, of an A4 page.
const MARGIN = 64;
const SIZES = { title: 18, text: 10.5, small: 9 };
const LINE_GAP = 2;
const GREY = '#595959';
// The layout measures a word that is longer than a line again for each of its lines: 20,000 letters took 7 s. 40 wide
// letters fill a line. Marks stay with their letter.
const PART_OF_LONG_WORD = /\S{40}\p{M}{0,8}(?=\S)/gu;
const ZERO_WIDTH_SPACE = '\u200b';
// A head of a paragraph stays with the first lines of its text.
const LEAST_SPACE = 56;

/** A transcript as a PDF file with embedded fonts: a heading, a line of facts, and the turns with their times. */
export async function toPdf(document: TranscriptDocument): Promise<PdfResult> {
  const shown = visible(document);
  const characters = unshownIn(shown);
  if (characters.length > 0) return { kind: 'unshown', characters };
  const pdf = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    bufferPages: true,
    displayTitle: true,
    font: FONTS.regular,
    info: { Title: shown.title, Creator: 'Verbatim' },
  });
  const content = buffer(pdf);
  writeText(pdf, withBreaks(shown));
  writePageNumbers(pdf);
  pdf.end();
  return { kind: 'file', content: await content };
}

function visible({ title, facts, paragraphs }: TranscriptDocument): TranscriptDocument {
  return {
    title: visibleText(title),
    facts: facts.map(visibleText),
    paragraphs: paragraphs.map(({ time, name, text }) => ({
      time,
      name: name === null ? null : visibleText(name),
      text: visibleText(text),
    })),
  };
}

/** Long words may be broken. */
function withBreaks({ title, facts, paragraphs }: TranscriptDocument): TranscriptDocument {
  return {
    title: breakable(title),
    facts: facts.map(breakable),
    paragraphs: paragraphs.map(({ time, name, text }) => ({
      time,
      name: name === null ? null : breakable(name),
      text: breakable(text),
    })),
  };
}

function breakable(text: string): string {
  return text.replace(PART_OF_LONG_WORD, `$&${ZERO_WIDTH_SPACE}`);
}

function unshownIn({ title, facts, paragraphs }: TranscriptDocument): string[] {
  const fonts = Object.values(FONTS).map((file) => openSync(file) as Font);
  const texts = [title, ...facts, ...paragraphs.flatMap(({ name, text }) => [name ?? '', text])];
  return unshownCharacters(texts, (codePoint) => fonts.every((font) => font.hasGlyphForCodePoint(codePoint)));
}

function writeText(pdf: Pdf, { title, facts, paragraphs }: TranscriptDocument): void {
  pdf.font(FONTS.bold).fontSize(SIZES.title).text(title, { paragraphGap: 6 });
  pdf.font(FONTS.regular).fontSize(SIZES.small).fillColor(GREY).text(facts.join(' · '), { paragraphGap: 14 });
  for (const { time, name, text } of paragraphs) {
    if (pdf.y > pdf.page.maxY() - LEAST_SPACE) pdf.addPage();
    const head = name === null ? time : `${time}  ${name}`;
    pdf.font(FONTS.bold).fontSize(SIZES.small).fillColor(GREY).text(head, { paragraphGap: 2 });
    writeBody(pdf, text);
  }
  if (paragraphs.length === 0) writeBody(pdf, NO_TEXT);
}

function writeBody(pdf: Pdf, text: string): void {
  pdf.font(FONTS.regular).fontSize(SIZES.text).fillColor('black').text(text, { lineGap: LINE_GAP, paragraphGap: 8 });
}

function writePageNumbers(pdf: Pdf): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let index = 0; index < count; index++) {
    pdf.switchToPage(start + index);
    // Text in the lower margin would begin a page.
    pdf.page.margins.bottom = 0;
    pdf.font(FONTS.regular).fontSize(SIZES.small).fillColor(GREY);
    const place = { align: 'center', lineBreak: false, width: pdf.page.width - 2 * MARGIN } as const;
    pdf.text(`${index + 1} / ${count}`, MARGIN, pdf.page.height - MARGIN / 2 - SIZES.small, place);
  }
}
