import { deflateSync } from 'node:zlib';
import type { Answer } from '../../http/route.ts';
import { component, nullable, oneOf, type Static, Type } from '../../http/schema.ts';
import type { Job } from '../job.ts';
import { ESTIMATED } from '../schemas.ts';
import { renderTranscript } from '../transcript.ts';
import type { OpenAiRequest } from './request.ts';

export const usageSchema = Type.Object(
  {
    type: Type.Literal('duration'),
    seconds: Type.Integer({ minimum: 0, description: 'Of audio, rounded up.' }),
  },
  component('OpenAiUsage'),
);

const EXAMPLE = {
  text: 'Ask not what your country can do for you.',
  usage: { type: 'duration', seconds: 4 },
};

/** The body of an answer in json and in verbose_json. */
export const openAiAnswerSchema = Type.Object(
  {
    text: nullable(Type.String()),
    usage: usageSchema,
    task: Type.Optional(oneOf(['transcribe', 'translate'])),
    language: Type.Optional(
      Type.String({ description: 'Of the text, in English: english. Empty when it is not known.' }),
    ),
    duration: Type.Optional(Type.Number({ minimum: 0, description: 'Seconds.' })),
    segments: Type.Optional(Type.Array(Type.Unknown())),
    words: Type.Optional(
      Type.Array(
        Type.Object({
          word: Type.String(),
          start: Type.Number(),
          end: Type.Number(),
          estimated: Type.Optional(Type.Literal(true, { description: ESTIMATED })),
        }),
      ),
    ),
  },
  component('OpenAiTranscription', EXAMPLE, 'More than text and usage only with verbose_json and diarized_json.'),
);

/** A segment in diarized_json, and an event of a stream of that format. */
export const diarizedSegmentSchema = Type.Object({
  type: Type.Literal('transcript.text.segment'),
  id: Type.String({ examples: ['seg_001'] }),
  start: Type.Number({ minimum: 0 }),
  end: Type.Number({ minimum: 0 }),
  text: Type.String(),
  speaker: nullable(Type.String(), 'Null where the speakers were not found.'),
});

type StoredPart = { start: number; end: number; text: string; confidence: number | null };
type StoredSegment = StoredPart & {
  words?: (StoredPart & { estimated?: true })[];
  speaker?: string | null;
  no_speech_share?: number;
};

/** A completed job in the format of the request. */
export function renderOpenAi(job: Job, request: OpenAiRequest): Pick<Answer, 'body' | 'contentType'> {
  switch (request.format) {
    case 'json':
      return { body: { text: job.transcript, usage: usageOf(job) } };
    case 'verbose_json':
      return { body: { ...verbose(job, request), usage: usageOf(job) } };
    case 'diarized_json':
      return { body: { ...diarized(job), usage: usageOf(job) } };
    default:
      return renderTranscript(job, request.format);
  }
}

/** The length of a job's audio, as that API bills it. */
export function usageOf(job: Job): { type: 'duration'; seconds: number } {
  return { type: 'duration', seconds: Math.ceil((job.durationMs ?? 0) / 1000) };
}

/** The segments of a completed job with their speakers. */
export function diarizedSegments(job: Job): Static<typeof diarizedSegmentSchema>[] {
  return storedSegments(job).map(({ start, end, text, speaker = null }, index) => {
    const id = `seg_${String(index + 1).padStart(3, '0')}`;
    return { type: 'transcript.text.segment', id, start, end, text, speaker };
  });
}

function storedSegments(job: Job): StoredSegment[] {
  return JSON.parse(job.segments ?? '[]') as StoredSegment[];
}

function diarized(job: Job) {
  const duration = (job.durationMs ?? 0) / 1000;
  return { task: 'transcribe', duration, text: job.transcript, segments: diarizedSegments(job) };
}

function verbose(job: Job, { granularities, options }: OpenAiRequest) {
  const translation = options.translate_to ?? null;
  const segments = storedSegments(job);
  const words = segments.flatMap((segment) => segment.words ?? []);
  return {
    task: translation ? 'translate' : 'transcribe',
    language: languageName(translation ?? job.detectedLanguage),
    duration: (job.durationMs ?? 0) / 1000,
    text: job.transcript,
    // An engine without times of words has times of segments only.
    ...((granularities.includes('segment') || words.length === 0) && { segments: segments.map(showSegment) }),
    ...(granularities.includes('word') && {
      words: words.map(({ text, start, end, estimated }) => ({
        word: text,
        start,
        end,
        ...(estimated && { estimated }),
      })),
    }),
  };
}

/** Fields that no engine here can fill have neutral values, for clients that require them. */
function showSegment({ start, end, text, confidence, no_speech_share: noSpeech = 0 }: StoredSegment, id: number) {
  const logProbability = confidence === null ? 0 : Math.log(Math.max(confidence, Number.EPSILON));
  return {
    id,
    seek: 0,
    start,
    end,
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: logProbability,
    compression_ratio: compressionRatio(text),
    no_speech_prob: noSpeech,
  };
}

/**
 * As Whisper computes it: text that repeats itself has a high ratio, and clients leave out segments above 2.4.
 * Source: https://github.com/openai/whisper/blob/main/whisper/utils.py
 */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}

/** That API names languages in English: `english` for en. Its clients take a string: empty where it is not known. */
function languageName(code: string | null): string {
  if (code === null) return '';
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  return (names.of(code) ?? code).toLowerCase();
}
