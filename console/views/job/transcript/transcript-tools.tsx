import { Copy } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy.tsx';
import { MenuButton } from '../../../ui/menu/menu-button.tsx';
import type { Player } from '../player/player.ts';
import { linkSeconds } from '../player/time-link.ts';
import { transcriptText } from './copy-text.ts';
import type { ShownTranscript } from './use-transcript.ts';

/** What can be done with the whole transcript. */
export function TranscriptTools({
  transcript,
  player,
  isFollowing,
  onFollow,
}: {
  transcript: ShownTranscript;
  player: Player;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
}) {
  const copy = (hasTimes: boolean) => void copyText(transcriptText(copied(transcript), { hasTimes }));
  return (
    <>
      <Button aria-pressed={isFollowing} onClick={() => onFollow(!isFollowing)}>
        Follow the sound
      </Button>
      <MenuButton
        className="button quiet"
        groups={[
          {
            entries: [
              { key: 'text', label: 'Copy text', act: () => copy(false) },
              { key: 'times', label: 'Copy with times', act: () => copy(true) },
              { key: 'link', label: 'Copy link to this time', act: () => void copyText(linkTo(player.seconds)) },
            ],
          },
        ]}
      >
        <Copy aria-hidden /> Copy
      </MenuButton>
    </>
  );
}

/** The address of this page, at a time. */
function linkTo(seconds: number): string {
  const [path] = location.hash.split('?', 1);
  return `${location.origin}${location.pathname}${path}?t=${linkSeconds(seconds)}`;
}

function copied({ segments, voiceAt, edits }: ShownTranscript) {
  return segments.map(({ start, text }, at) => ({
    start,
    text: edits.of(at)?.text ?? text,
    voice: voiceAt(at)?.label ?? null,
  }));
}
