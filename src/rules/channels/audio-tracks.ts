import { cleanLabel } from '../label.ts';

/** An audio track of a file, as the API shows it. Names and tags are the file's own claims, cleaned for display. */
export type AudioTrack = {
  /** Among the audio tracks, from 0. */
  index: number;
  /** A canonical BCP 47 tag; null when the file names none. */
  language: string | null;
  title: string | null;
  /** ffmpeg's name of the codec. */
  codec: string;
  channels: number;
  /** Whether the file marks the track as the one to play. */
  default: boolean;
};

/** The track that a request asks for: an index from 0, or a canonical BCP 47 tag. */
export type TrackChoice = number | string;

/** At most this number of tracks of a file is listed, and can be chosen. */
export const TRACKS_MAX = 32;
const TITLE_MAX_CHARS = 100;
const LANGUAGE_MAX_CHARS = 35;
const INDEX = /^(0|[1-9]\d{0,2})$/;

/** A track from a file's own words, which may be anything. */
export function audioTrack(
  index: number,
  claimed: { language?: string; title?: string; codec: string; channels: number; isDefault: boolean },
): AudioTrack {
  return {
    index,
    language: canonicalLanguage(claimed.language),
    title: cleanLabel(claimed.title, TITLE_MAX_CHARS),
    codec: claimed.codec,
    channels: claimed.channels,
    default: claimed.isDefault,
  };
}

/** Null for text that is neither an index nor a language tag. */
export function readTrackChoice(text: string): TrackChoice | null {
  return INDEX.test(text) ? Number(text) : canonicalLanguage(text);
}

/**
 * The track that is transcribed; null when there is none such. Without a choice it is the first one, whichever the file
 * marks as default. A language also matches its regional variants: `pt` the first of `pt` and `pt-BR`.
 */
export function findTrack(tracks: readonly AudioTrack[], choice: TrackChoice | null): AudioTrack | null {
  if (typeof choice !== 'string') return tracks[choice ?? 0] ?? null;
  return tracks.find(({ language }) => language === choice || language?.startsWith(`${choice}-`)) ?? null;
}

/** The index of the track to decode, where the tracks could not be listed too; null when there is none such. */
export function trackIndex(tracks: readonly AudioTrack[], choice: TrackChoice | null): number | null {
  if (tracks.length === 0 && typeof choice !== 'string') return choice ?? 0;
  return findTrack(tracks, choice)?.index ?? null;
}

/** The number of channels of the chosen track; null while it is unknown. */
export function channelsOf(tracks: readonly AudioTrack[], choice: TrackChoice | null): number | null {
  return findTrack(tracks, choice)?.channels ?? null;
}

/** The number of channels for which a job's cost is held: 1 where they are mixed or unknown. */
export function channelsToHold(
  tracks: readonly AudioTrack[],
  { multichannel = false, audio_track: choice }: { multichannel?: boolean; audio_track?: TrackChoice },
): number {
  return (multichannel && channelsOf(tracks, choice ?? null)) || 1;
}

/** Says which tracks there are, for a client that asked for another one. */
export function listTracks(tracks: readonly AudioTrack[]): string {
  return tracks.map(({ index, language }) => (language === null ? `${index}` : `${index} (${language})`)).join(', ');
}

/** Three letters become two where there are two (`ger` is `de`); null for `und` and for what is no tag. */
function canonicalLanguage(tag: string | undefined): string | null {
  try {
    const [canonical = 'und'] = Intl.getCanonicalLocales(tag);
    return canonical === 'und' || canonical.length > LANGUAGE_MAX_CHARS ? null : canonical;
  } catch {
    return null;
  }
}
