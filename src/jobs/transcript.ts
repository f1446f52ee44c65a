import type { Segment, Transcript, Word } from '../engines/engine.ts';
import { RawJson } from '../platform/json.ts';
import type { CaptionSegment } from '../rules/captions/caption-words.ts';
import type { CaptionOptions } from '../rules/captions/captions.ts';
import { toSrt, toText, toVtt } from '../rules/jobs/transcript-text.ts';
import type { FoundWarning } from '../rules/jobs/warnings.ts';
import type { SpeakerMerges } from '../rules/speakers/speaker-merges.ts';
import type { SpeakerNames } from '../rules/speakers/speaker-names.ts';
import { unpackWords } from '../rules/transcript/packed-words.ts';
import type { Job } from './job.ts';

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The formats of transcripts for readers. */
export const DOCUMENT_FORMATS = ['md', 'docx', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** Of the files, by their formats. */
export const FILE_EXTENSIONS: Readonly<Record<TranscriptFormat | DocumentFormat, string>> = {
  json: 'json',
  text: 'txt',
  srt: 'srt',
  vtt: 'vtt',
  md: 'md',
  docx: 'docx',
  pdf: 'pdf',
};

/** Whether a format is one for readers. Documents show who speaks unless they are asked not to. */
export function isDocumentFormat(format: TranscriptFormat | DocumentFormat): format is DocumentFormat {
  return DOCUMENT_FORMATS.some((name) => name === format);
}

/** How captions look: null for one caption per segment; with the names of speakers. */
export type CaptionStyle = { shape: CaptionOptions | null; hasNames: boolean };

/** A completed job whose transcript is shown: as it was made, or edited since. */
export type TranscriptJob = Job & { editedAt?: Date; speakerNames?: SpeakerNames; speakerMerges?: SpeakerMerges };

/** An engine's transcript of one piece, where in the audio the piece starts, and its channel where that is shown. */
export type PieceTranscript = { startSeconds: number; transcript: Transcript; channel?: number };

/** The segments of a piece. Times count from the start of the audio; the text can be stored. */
export function placeSegments({ startSeconds, transcript, channel }: PieceTranscript): Segment[] {
  const place = { ...(channel !== undefined && { channel }) };
  return transcript.segments.map((segment) => ({
    ...segment,
    ...shifted(segment, startSeconds),
    ...place,
    words: segment.words.map((word) => ({ ...word, ...shifted(word, startSeconds), ...place })),
  }));
}

/** The plain text of a transcript. */
export function textOf({ segments }: Transcript): string {
  return toText(segments);
}

/** The segments as the JSON text that the API shows, with words only if the request wants them. */
export function segmentsJson({ segments }: { segments: readonly Segment[] }, wordTimes: boolean): string {
  const shown = segments.map((segment) => ({
    ...viewOf(segment),
    ...(segment.noSpeechShare !== undefined && { no_speech_share: round(segment.noSpeechShare) }),
    ...(wordTimes ? { words: segment.words.map(viewOf) } : {}),
  }));
  return JSON.stringify(shown);
}

/**
 * A completed job's transcript as a file: its body, a string or for json a value, and its content type. Shaped captions
 * have the times of the words where the job was read with them.
 * @param style  of srt and vtt
 */
export function renderTranscript(
  job: TranscriptJob,
  format: TranscriptFormat,
  style: CaptionStyle = { shape: null, hasNames: false },
): { body: unknown; contentType?: string } {
  if (format === 'json') return { body: transcriptJson(job) };
  if (format === 'text') return { body: `${job.transcript}\n`, contentType: 'text/plain; charset=utf-8' };
  const { shape, hasNames } = style;
  const segments = readSegments(job, hasNames);
  const audioMs = job.durationMs ?? Number.POSITIVE_INFINITY;
  return format === 'srt'
    ? { body: toSrt(segments, shape, audioMs), contentType: 'application/x-subrip; charset=utf-8' }
    : { body: toVtt(segments, shape, audioMs), contentType: 'text/vtt; charset=utf-8' };
}

/** A completed job's transcript as JSON. */
export function transcriptJson(job: TranscriptJob) {
  return {
    version: job.editedAt ? ('edited' as const) : ('original' as const),
    text: job.transcript,
    language: spokenLanguage(job),
    translated_to: translatedTo(job),
    duration_seconds: (job.durationMs ?? 0) / 1000,
    ...(job.speakerNames && { speakers: job.speakerNames }),
    ...(job.speakerMerges && { merged_speakers: job.speakerMerges }),
    edited_at: job.editedAt?.toISOString() ?? null,
    segments: new RawJson(job.segments ?? '[]'),
  };
}

/** The language that was spoken; until the job has ended, the one that its request named. Null when it is not known. */
export function spokenLanguage({ state, detectedLanguage, language }: Job): string | null {
  return state === 'completed' ? detectedLanguage : language;
}

/** The language of the text of a job that asked for a translation; else null. */
export function translatedTo({ state, options }: Pick<Job, 'state' | 'options'>): 'en' | null {
  return state === 'completed' ? (options.translate_to ?? null) : null;
}

/** The segments with their words, from wherever they are stored. */
function readSegments({ segments, words }: Job, hasNames: boolean): CaptionSegment[] {
  type Stored = { start: number; end: number; text: string; words?: Stored[] } & Voice;
  const read = ({ start, end, text }: Stored) => ({ startSeconds: start, endSeconds: end, text });
  const stored = JSON.parse(segments ?? '[]') as Stored[];
  const packed = words ? unpackWords(stored.map(read), words) : [];
  return stored.map((segment, i) => ({
    ...read(segment),
    ...(segment.channel !== undefined && { channel: segment.channel }),
    words: segment.words?.map(read) ?? packed[i] ?? [],
    name: hasNames ? nameOf(segment) : null,
  }));
}

type Voice = { speaker?: string | null; channel?: number };

/** The speaker, else the channel, which viewers count from one. */
function nameOf({ speaker, channel }: Voice): string | null {
  return speaker ?? (channel === undefined ? null : `Channel ${channel + 1}`);
}

function shifted(part: Word | Segment, offsetSeconds: number) {
  return {
    text: storable(part.text),
    startSeconds: part.startSeconds + offsetSeconds,
    endSeconds: part.endSeconds + offsetSeconds,
  };
}

/** PostgreSQL rejects U+0000, and UTF-8 has no lone surrogates; an engine's output may contain both. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** A warning where times of words were asked for, and the engine gave none with its text. */
export function missingWordTimes({ wordTimes }: Pick<Job, 'wordTimes'>, segments: readonly Segment[]): FoundWarning[] {
  const isMissing = wordTimes && segments.length > 0 && segments.every(({ words }) => words.length === 0);
  return isMissing ? [{ code: 'words_unsupported' }] : [];
}

/** Counts the characters of text in each language that an engine reports. */
export class LanguageCount {
  readonly #characters = new Map<string, number>();

  add({ language, segments }: Transcript): void {
    // Of silence, only what was asked for is known.
    if (!language || segments.length === 0) return;
    const characters = segments.reduce((sum, segment) => sum + segment.text.length, 0);
    this.#characters.set(language, (this.#characters.get(language) ?? 0) + characters);
  }

  /** The language with the most text: a single piece, of music for example, may be detected as any language. */
  main(): string | null {
    const [most] = [...this.#characters].sort(([, left], [, right]) => right - left);
    return most ? storable(most[0]) : null;
  }
}

function viewOf({ startSeconds, endSeconds, text, confidence, speaker, channel, ...more }: Word | Segment) {
  return {
    ...(channel !== undefined && { channel }),
    start: round(startSeconds),
    end: round(endSeconds),
    text,
    confidence: confidence && round(confidence),
    ...('estimated' in more && { estimated: more.estimated }),
    ...(speaker !== undefined && { speaker }),
  };
}

/** Three decimals: a millisecond, and enough for a confidence. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
