import { useEffect, useState } from 'react';
import { Player } from './player.ts';

const FRAMES = {
  request: (callback: () => void) => requestAnimationFrame(callback),
  cancel: (handle: number) => cancelAnimationFrame(handle),
};

/** A player for as long as the component is shown; null at first. @param durationSeconds  of the audio */
export function usePlayer(durationSeconds: number): Player | null {
  const [player, setPlayer] = useState<Player | null>(null);
  useEffect(() => {
    // In the page, so that the tools of the browser and of tests find it.
    const media = document.createElement('audio');
    media.preload = 'metadata';
    media.hidden = true;
    document.body.append(media);
    const made = new Player(media, durationSeconds, FRAMES);
    setPlayer(made);
    return () => {
      made.close();
      media.remove();
    };
  }, [durationSeconds]);
  return player;
}
