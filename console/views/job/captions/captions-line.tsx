import { useEffect, useState } from 'react';
import type { Player } from '../player/player.ts';
import { type Cue, cuesAt } from './read-captions.ts';

const LABELS = ['Broadcast', 'Plain'];

/**
 * The captions of the player's time as viewers see them, in both shapes beside each other.
 * @param screens  broadcast and plain; null: none
 */
export function Captions({ player, screens }: { player: Player; screens: readonly (readonly Cue[])[] | null }) {
  if (screens === null) return null;
  return (
    <div className="caption-screens">
      {screens.map((cues, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are always the same two
        <Screen key={at} label={LABELS[at]!} cues={cues} player={player} />
      ))}
    </div>
  );
}

/** Between captions the next one stands there, in another colour. */
function Screen({ label, cues, player }: { label: string; cues: readonly Cue[]; player: Player }) {
  const [shown, setShown] = useState<readonly Cue[]>([]);
  const [isLater, setLater] = useState(false);
  useEffect(() => {
    const update = (seconds: number) => {
      const now = cuesAt(cues, seconds);
      const next = now.length > 0 ? now : cues.filter(({ start }) => start > seconds).slice(0, 1);
      setLater(now.length === 0);
      setShown((before) => (isSame(before, next) ? before : next));
    };
    update(player.seconds);
    return player.onTime(update);
  }, [player, cues]);
  return (
    <div className="caption-screen">
      <small>{label}</small>
      {shown.map(({ speaker, lines }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a paragraph keeps nothing of its text
        <p key={at} dir="auto" className={isLater ? 'soft' : undefined}>
          {speaker !== null && <b>{speaker}: </b>}
          {lines.join('\n')}
        </p>
      ))}
    </div>
  );
}

function isSame(left: readonly Cue[], right: readonly Cue[]): boolean {
  return left.length === right.length && left.every((cue, at) => cue === right[at]);
}
