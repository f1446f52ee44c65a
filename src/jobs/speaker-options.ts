import { SPEAKERS_MAX, type SpeakerBounds } from '../rules/speakers/turn.ts';
import { readBoolean, readNumber, refusal } from './request-fields.ts';

/** What a request asks about speakers. */
export type SpeakerOptions = {
  /** Label who says what. */
  diarize?: boolean;
  /** The exact number of speakers. */
  speakers?: number;
  min_speakers?: number;
  max_speakers?: number;
};

type CountField = Exclude<keyof SpeakerOptions, 'diarize'>;

const COUNT_FIELDS: readonly CountField[] = ['speakers', 'min_speakers', 'max_speakers'];

/** @throws ApiError  400 */
export function readDiarize(text: string): boolean {
  return readBoolean(new Map([['diarize', text]]), 'diarize');
}

/**
 * The number in a field; undefined for `speakers=true` and `speakers=false`, which are about the names in captions.
 * @throws ApiError  400
 */
export function readSpeakerCount(name: CountField, text: string): number | undefined {
  if (name === 'speakers' && ['true', 'false'].includes(text)) return undefined;
  return readNumber(new Map([[name, text]]), name, { min: 1, max: SPEAKERS_MAX, isWhole: true }) ?? undefined;
}

/** @throws ApiError  400 for numbers that are not wanted or contradict each other */
export function checkSpeakerOptions(options: SpeakerOptions): void {
  const { diarize, speakers, min_speakers, max_speakers } = options;
  const given = COUNT_FIELDS.find((name) => options[name] !== undefined);
  if (given !== undefined && !diarize) throw refusal(given, `${given} needs diarize=true.`);
  if (speakers !== undefined && (min_speakers !== undefined || max_speakers !== undefined)) {
    throw refusal('speakers', 'Send either speakers, which is exact, or min_speakers and max_speakers.');
  }
  if (min_speakers !== undefined && max_speakers !== undefined && min_speakers > max_speakers) {
    throw refusal('min_speakers', 'min_speakers must not be greater than max_speakers.');
  }
}

/** How many speakers there may be; null when nobody asked who speaks. */
export function speakerBounds({ diarize, speakers, ...bounds }: SpeakerOptions): SpeakerBounds | null {
  if (!diarize) return null;
  return { min: speakers ?? bounds.min_speakers ?? 1, max: speakers ?? bounds.max_speakers ?? SPEAKERS_MAX };
}
