import { useEffect, useState } from 'react';
import type { Player } from '../player/player.ts';
import { type Cue, cuesAt } from './read-captions.ts';

/** The captions of the player's time, as viewers see them. */
export function Captions({ player, cues }: { player: Player; cues: readonly Cue[] | null }) {
  const [shown, setShown] = useState<readonly Cue[]>([]);
  useEffect(() => {
    if (cues === null) return setShown([]);
    const update = (seconds: number) => {
      const now = cuesAt(cues, seconds);
      setShown((before) => (isSame(before, now) ? before : now));
    };
    update(player.seconds);
    return player.onTime(update);
  }, [player, cues]);
  if (cues === null) return null;
  return (
    <div className="caption-screen">
      {shown.map((cue) => (
        <p key={`${cue.start} ${cue.lines.join(' ')}`} dir="auto">
          {cue.speaker !== null && <b>{cue.speaker}: </b>}
          {cue.lines.join('\n')}
        </p>
      ))}
    </div>
  );
}

function isSame(left: readonly Cue[], right: readonly Cue[]): boolean {
  return left.length === right.length && left.every((cue, at) => cue === right[at]);
}
