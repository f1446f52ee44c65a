import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Job, Segment, Transcript } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { type Voice, voiceOf, voicesOf, withMerges } from '../../../parts/voices/voices.ts';
import { EditSession } from '../edit/edit-session.ts';
import { indexWords, type WordIndex } from '../words/word-index.ts';

/** A transcript as it is shown, with the edits made here. */
export type ShownTranscript = {
  /** The job's. */
  id: string;
  /** As they were transcribed. */
  originals: readonly Segment[];
  /** As they are stored: where a text was edited, it has no words. */
  segments: readonly Segment[];
  index: WordIndex;
  edits: EditSession;
  voices: ReadonlyMap<string, Voice>;
  /** Speakers that are shown as another one, by their labels. */
  merges: Readonly<Record<string, string>>;
  voiceAt(segment: number): Voice | null;
};

const NO_MERGES = {};

/** The transcript of a completed job. @param stored  as the API gives it, with the edits of other readers */
export function useTranscript(job: Pick<Job, 'id' | 'segments'>, stored: Transcript): ShownTranscript {
  const { id } = job;
  const originals = job.segments ?? [];
  const [edits] = useState(() => openSession(id, stored));
  const texts = useSyncExternalStore(edits.subscribe, () => edits.stored);
  const segments = useMemo(() => originals.map((segment, at) => withText(segment, texts[at])), [originals, texts]);
  const index = useMemo(() => indexWords(segments), [segments]);
  const { speakers, merged_speakers: merges = NO_MERGES } = stored;
  const heard = useMemo(() => originals.map((segment) => withMerges(segment, merges)), [originals, merges]);
  const voices = useMemo(() => voicesOf(heard, speakers), [heard, speakers]);
  useEffect(() => () => void edits.flush(), [edits]);
  return {
    id,
    originals,
    segments,
    index,
    edits,
    voices,
    merges,
    voiceAt: (at) => voices.get(voiceOf(heard[at]!) ?? '') ?? null,
  };
}

function openSession(id: string, { segments }: Transcript): EditSession {
  const textsOf = (transcript: Transcript) => transcript.segments.map(({ text }) => text);
  return new EditSession(
    segments.map(({ text }) => text),
    {
      read: async () => textsOf(await api.jobs.transcript(id)),
      save: async (changes) => textsOf(await api.jobs.editTranscript(id, changes)),
      later(delayMs, callback) {
        const timer = setTimeout(callback, delayMs);
        return () => clearTimeout(timer);
      },
    },
  );
}

/** The words of an edited text are not known: their times are those of other words. */
function withText(segment: Segment, text: string | undefined): Segment {
  return text === undefined || text === segment.text ? segment : { ...segment, text, words: [] };
}
