import { Pause, Play } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';
import { clockTime } from '../../../text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { AudioState } from './audio-state.tsx';
import { useCommands } from './commands.ts';
import { MAX_RATE, MIN_RATE, type Player } from './player.ts';
import type { JobSound } from './use-sound.ts';
import { Waveform } from './waveform.tsx';

/**
 * The controls of the sound: it stays at the top of the window while the page scrolls.
 * @param children  below the waveform
 */
export function PlayerBar({ player, sound, children }: { player: Player; sound: JobSound; children: ReactNode }) {
  const { isPlaying, hasAudio } = useSyncExternalStore(player.subscribe, () => player.state);
  const clock = useRef<HTMLSpanElement>(null);
  const bar = useRef<HTMLElement>(null);
  useClock(player, clock);
  useHeight(bar);
  useCommands((command) => {
    if (command.kind === 'toggle') player.toggle();
    else if (command.kind === 'skip') player.skip(command.seconds);
    else if (command.kind === 'rate') player.changeRate(command.steps);
    else return false;
    return true;
  });
  return (
    <section className="card player" aria-label="Player" ref={bar}>
      <Waveform player={player} peaks={sound.peaks} />
      {children}
      <div className="player-row">
        <Button look="primary" className="play" disabled={!hasAudio} onClick={() => player.toggle()}>
          {isPlaying ? <Pause aria-hidden /> : <Play aria-hidden />}
          {isPlaying ? 'Pause' : 'Play'}
        </Button>
        <Button look="quiet" onClick={() => player.skip(-10)}>
          −10 s
        </Button>
        <Button look="quiet" onClick={() => player.skip(10)}>
          +10 s
        </Button>
        <span className="clock">
          <span ref={clock}>{clockTime(player.seconds, 1)}</span> / {clockTime(player.durationSeconds)}
        </span>
        <Rate player={player} />
        <LoopState player={player} />
      </div>
      <AudioState player={player} sound={sound} />
    </section>
  );
}

function Rate({ player }: { player: Player }) {
  const { rate } = useSyncExternalStore(player.subscribe, () => player.state);
  return (
    <fieldset className="rate">
      <legend className="hidden">Speed</legend>
      <Button look="quiet" aria-label="Slower" disabled={rate <= MIN_RATE} onClick={() => player.changeRate(-1)}>
        −
      </Button>
      <Button look="quiet" aria-label={`Speed ${rate.toFixed(1)}, back to 1`} onClick={() => player.setRate(1)}>
        {rate.toFixed(1)}×
      </Button>
      <Button look="quiet" aria-label="Faster" disabled={rate >= MAX_RATE} onClick={() => player.changeRate(1)}>
        +
      </Button>
    </fieldset>
  );
}

function LoopState({ player }: { player: Player }) {
  const { loop } = useSyncExternalStore(player.subscribe, () => player.state);
  if (loop === null) return null;
  return (
    <Button aria-pressed onClick={() => player.setLoop(null)}>
      Repeating {clockTime(loop.start, 1)} to {clockTime(loop.end, 1)}
    </Button>
  );
}

/** Tells the style sheet the height of the player, below which other things stay in view. */
function useHeight(bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { parentElement } = bar.current!;
    const observer = new ResizeObserver(() =>
      parentElement!.style.setProperty('--player-height', `${bar.current?.offsetHeight ?? 0}px`),
    );
    observer.observe(bar.current!);
    return () => observer.disconnect();
  }, [bar]);
}

/** Writes the time without rendering: it changes with each frame. */
function useClock(player: Player, clock: RefObject<HTMLSpanElement | null>): void {
  useEffect(
    () =>
      player.onTime((seconds) => {
        const text = clockTime(seconds, 1);
        if (clock.current && clock.current.textContent !== text) clock.current.textContent = text;
      }),
    [player, clock],
  );
}
