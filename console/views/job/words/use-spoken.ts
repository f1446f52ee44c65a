import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Player } from '../player/player.ts';
import type { Rows } from '../rows/virtual-rows.tsx';
import type { Marks } from './marks.ts';
import { segmentAtTime, type WordIndex, wordAtTime } from './word-index.ts';

/** What is spoken, and whether the page scrolls with it. */
export type Spoken = {
  /** The segment of the player's time; -1 before the first seek. */
  segment: number;
  /** The same, read at once. */
  now(): number;
  isFollowing: boolean;
  setFollowing(isFollowing: boolean): void;
  readerScrolled(): void;
};

/**
 * Marks the spoken word at each new time: a binary search and one range. The component renders again for another
 * segment only. The page follows until the reader scrolls, and again from the next seek on.
 * @param isPaused  while the reader edits the page does not move
 */
export function useSpoken({
  index,
  player,
  marks,
  rows,
  isPaused,
}: {
  index: WordIndex;
  player: Player;
  marks: Marks;
  rows: RefObject<Rows | null>;
  isPaused: boolean;
}): Spoken {
  const [segment, setSegment] = useState(-1);
  const [isFollowing, setFollowing] = useState(true);
  const mayScroll = useRef(true);
  mayScroll.current = isFollowing && !isPaused;

  useEffect(() => {
    const update = (seconds: number) => {
      marks.setSpoken(wordAtTime(index, seconds));
      setSegment(segmentAtTime(index, seconds));
    };
    if (player.seconds > 0) update(player.seconds);
    return player.onTime(update);
  }, [index, player, marks]);
  useEffect(() => player.onSeek(() => setFollowing(true)), [player]);
  useEffect(() => {
    if (segment >= 0 && mayScroll.current) rows.current?.show(segment);
  }, [segment, rows]);

  return {
    segment,
    now: () => segmentAtTime(index, player.seconds),
    isFollowing,
    setFollowing(follows) {
      setFollowing(follows);
      if (follows && segment >= 0) rows.current?.show(segment, { isForced: true });
    },
    readerScrolled: () => setFollowing(false),
  };
}
