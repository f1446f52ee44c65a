import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import type { Transcript } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useAccount } from '../../api/queries.ts';
import { useFilters } from '../../app/filters.tsx';
import { guardLeaving } from '../../router/address.ts';
import { Query } from '../../ui/state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Captions } from './captions/captions-line.tsx';
import { CaptionsTab } from './captions/captions-tab.tsx';
import { useCaptions } from './captions/use-captions.ts';
import { type ApiJob, jobTabs } from './ended-job.tsx';
import type { Player } from './player/player.ts';
import { PlayerBar } from './player/player-bar.tsx';
import { readSeconds } from './player/time-link.ts';
import { usePlayer } from './player/use-player.ts';
import { useSound } from './player/use-sound.ts';
import { TranscriptTab } from './transcript/transcript-tab.tsx';
import { useTranscript } from './transcript/use-transcript.ts';
import { Warnings } from './warnings.tsx';

/** A completed job: the player above its transcript and the other tabs. */
export function CompletedJob({ job }: { job: ApiJob }) {
  const player = usePlayer(job.audio.duration_seconds ?? 0);
  const query = useQuery({
    queryKey: ['job', job.id, 'transcript'],
    queryFn: ({ signal }) => api.jobs.transcript(job.id, 'json', {}, { signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return <Query of={query}>{(stored) => player && <PlayedJob job={job} stored={stored} player={player} />}</Query>;
}

function PlayedJob({ job, stored, player }: { job: ApiJob; stored: Transcript; player: Player }) {
  const [filters, setFilters] = useFilters();
  const { data: account } = useAccount();
  const transcript = useTranscript(job, stored);
  const sound = useSound(job, player);
  const tab = filters['tab'] ?? 'transcript';
  const captions = useCaptions(job.id, transcript.edits.stored, tab === 'captions');
  useTimeOfLink(player, filters['t']);
  useUnsavedEdits(() => transcript.edits.isUnsaved);
  const canEdit = account?.scopes.includes('jobs:write') ?? false;
  const hasVoices = transcript.voices.size > 0;
  const tabs = [
    {
      name: 'transcript',
      label: 'Transcript',
      content: <TranscriptTab transcript={transcript} player={player} canEdit={canEdit} />,
    },
    {
      name: 'captions',
      label: 'Captions',
      content: <CaptionsTab id={job.id} captions={captions} player={player} hasVoices={hasVoices} />,
    },
    ...jobTabs(job),
  ];
  return (
    <>
      <Warnings warnings={job.warnings} />
      <PlayerBar player={player} sound={sound}>
        <Captions player={player} screens={tab === 'captions' ? captions.screens : null} />
      </PlayerBar>
      <Tabs label="Job" tabs={tabs} chosen={tab} onChoose={(name) => setFilters({ tab: name })} />
    </>
  );
}

/** Goes to the time of the address, as a link to a hit has it. */
function useTimeOfLink(player: Player, text: string | undefined): void {
  useEffect(() => {
    const seconds = readSeconds(text ?? '');
    if (seconds !== null) player.seek(seconds);
  }, [player, text]);
}

/** Asks before the page is left while an edit is not stored. */
function useUnsavedEdits(isUnsaved: () => boolean): void {
  const unsaved = useEffectEvent(isUnsaved);
  useEffect(
    () =>
      guardLeaving(
        () => unsaved(),
        () => confirm('An edit is not saved yet. Leave the page and discard it?'),
      ),
    [],
  );
}
