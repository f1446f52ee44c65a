import { AlignmentType, Document, Footer, HeadingLevel, Packer, PageNumber, Paragraph, TextRun } from 'docx';
import { NO_TEXT, type TranscriptDocument } from '../../rules/documents/transcript-document.ts';

const RIGHT_TO_LEFT =
  /^\P{Letter}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const GREY = '595959';
// In twentieths of a point.
const SPACING = { after: 160 };

/**
 * A transcript as a DOCX file: a heading, a line of facts, a paragraph for each turn with its time, and page numbers.
 * The reader's own fonts show it, so that it has all scripts.
 */
export async function toDocx({ title, facts, paragraphs }: TranscriptDocument): Promise<Uint8Array> {
  const turns = paragraphs.map(({ time, name, text }) => {
    const head = new TextRun({ text: storable(name === null ? `${time} ` : `${time} ${name}: `), bold: true });
    return paragraphOf(text, { before: [head] });
  });
  const children = [
    new Paragraph({ heading: HeadingLevel.HEADING_1, spacing: SPACING, ...runsOf(title) }),
    paragraphOf(facts.join(' · '), { color: GREY }),
    ...(turns.length > 0 ? turns : [paragraphOf(NO_TEXT)]),
  ];
  const document = new Document({
    title: storable(title),
    creator: 'Verbatim',
    sections: [{ children, footers: { default: new Footer({ children: [pageNumber()] }) } }],
  });
  return await Packer.toBuffer(document);
}

function paragraphOf(text: string, { before = [], color }: { before?: TextRun[]; color?: string } = {}): Paragraph {
  return new Paragraph({ spacing: SPACING, ...runsOf(text, { before, ...(color && { color }) }) });
}

/** Direction and runs of a paragraph. */
function runsOf(text: string, { before = [], color }: { before?: TextRun[]; color?: string } = {}) {
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  const run = new TextRun({ text: storable(text), rightToLeft, ...(color && { color }) });
  return { bidirectional: rightToLeft, children: [...before, run] };
}

function pageNumber(): Paragraph {
  const run = new TextRun({ children: [PageNumber.CURRENT], color: GREY });
  return new Paragraph({ alignment: AlignmentType.CENTER, children: [run] });
}

/** XML has no half of a pair of surrogates, and neither U+FFFE nor U+FFFF, which are no characters. */
function storable(text: string): string {
  return text.toWellFormed().replace(/[\ufffe\uffff]/g, '\ufffd');
}
