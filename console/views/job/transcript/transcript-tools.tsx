import { Button } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy.tsx';
import type { Player } from '../player/player.ts';
import { linkSeconds } from '../player/time-link.ts';
import { transcriptText } from './copy-text.ts';
import type { ShownTranscript } from './use-transcript.ts';

const THRESHOLD_STEP = 0.05;

/** What can be done with the whole transcript. */
export function TranscriptTools({
  transcript,
  player,
  threshold,
  setThreshold,
  isFollowing,
  onFollow,
}: {
  transcript: ShownTranscript;
  player: Player;
  threshold: number;
  setThreshold: (threshold: number) => void;
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
      {hasConfidence(transcript) && (
        <label className="threshold">
          <span>Underline words less sure than {Math.round(threshold * 100)} %</span>
          <input
            type="range"
            min={0}
            max={1}
            step={THRESHOLD_STEP}
            value={threshold}
            onChange={(event) => setThreshold(event.target.valueAsNumber)}
          />
        </label>
      )}
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

function hasConfidence({ index }: ShownTranscript): boolean {
  return index.confidences.some((confidence) => !Number.isNaN(confidence));
}
