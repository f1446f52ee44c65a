import type { Transcript } from '../../engines/engine.ts';
import type { SpeakerFinder } from '../../engines/speakers/speakers.ts';
import type { Log } from '../../platform/log.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import type { SpeakerBounds } from '../../rules/speakers/turn.ts';
import { type LabelledTranscript, labelTranscript } from './label-transcript.ts';
import type { Recording } from './recording.ts';

export type SpeakerSearch = {
  /** Null on a node without the model. */
  finder: SpeakerFinder | null;
  recording: Recording;
  bounds: SpeakerBounds;
  /** Stands before each name. */
  prefix?: string;
  /** Called with 0 to 1. */
  onProgress: (share: number) => void;
  /** Receives what went wrong. */
  found: FoundWarning[];
  log: Pick<Log, 'warn'>;
  signal: AbortSignal;
};

/**
 * The transcript with its speakers; with unknown ones, and a warning, when they cannot be found.
 * Rejects with the signal's reason.
 */
export async function findSpeakers(
  transcript: Transcript,
  { finder, recording, bounds, prefix, onProgress, found, log, signal }: SpeakerSearch,
): Promise<Omit<LabelledTranscript, 'speakers'> & { speakers: LabelledTranscript['speakers'] | null }> {
  // Speakers without words have no names.
  if (transcript.segments.length === 0) return { transcript, speakers: [] };
  try {
    if (finder === null) throw new Error('this node has no speaker model');
    const { turns, isUncertain } = await finder.find(recording.audio(), { bounds, onProgress, signal });
    if (isUncertain) found.push({ code: 'speakers_uncertain' });
    return labelTranscript(transcript, turns, prefix);
  } catch (cause) {
    signal.throwIfAborted();
    log.warn({ err: cause, cause: String((cause as Error).cause) }, 'the speakers of a job were not found');
    found.push({ code: 'speakers_unavailable' });
    return { ...labelTranscript(transcript, []), speakers: null };
  }
}
