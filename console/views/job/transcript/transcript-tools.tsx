import { Button } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy.tsx';
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
      <Button onClick={() => copy(false)}>Copy text</Button>
      <Button onClick={() => copy(true)}>Copy with times</Button>
      <Button onClick={() => void copyText(linkTo(player.seconds))}>Copy link to this time</Button>
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
