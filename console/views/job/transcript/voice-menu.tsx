import { useQueryClient } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { placeOf, type Voice } from '../../../parts/voices/voices.ts';
import { MenuButton } from '../../../ui/menu/menu-button.tsx';
import { say } from '../../../ui/toast.tsx';
import type { ShownTranscript } from './use-transcript.ts';

/** Merges a speaker into another one, and shows by themselves again those that are merged into it. */
export function VoiceMenu({ voice, transcript }: { voice: Voice; transcript: ShownTranscript }) {
  const client = useQueryClient();
  const { id, voices, merges } = transcript;
  const others = [...voices.values()].filter(({ speaker }) => speaker !== null && speaker !== voice.speaker);
  const merged = Object.keys(merges).filter((speaker) => merges[speaker] === voice.speaker);
  if (voice.speaker === null || others.length + merged.length === 0) return null;
  const change = async (speaker: string, into: string | null) => {
    try {
      client.setQueryData(['job', id, 'transcript'], await api.jobs.mergeSpeakers(id, { [speaker]: into }));
      say(into === null ? 'The speaker is shown by itself again.' : 'The speakers are merged.');
      // The menu of a merged speaker is gone.
      const place = [...voices.values()].find((other) => other.speaker === into) ?? voice;
      requestAnimationFrame(() => requestAnimationFrame(() => focusMenu(place)));
    } catch (error) {
      say(problemOf(error).message);
    }
  };
  const groups = [
    {
      title: 'Merge into',
      entries: others.map((other) => ({
        key: other.id,
        label: other.label,
        act: () => change(voice.speaker!, other.speaker),
      })),
    },
    {
      title: 'Show by itself again',
      entries: merged.map((speaker) => ({
        key: `+${speaker}`,
        label: `Speaker ${speaker}`,
        act: () => change(speaker, null),
      })),
    },
  ];
  return (
    <MenuButton
      className="button quiet icon-only"
      label={`Merge ${voice.label}`}
      groups={groups.filter(({ entries }) => entries.length > 0)}
    >
      <Ellipsis aria-hidden />
    </MenuButton>
  );
}

function focusMenu(voice: Voice): void {
  document.getElementById(placeOf(voice))?.querySelector('button')?.focus();
}
