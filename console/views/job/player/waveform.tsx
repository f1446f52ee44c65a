import { type RefObject, useEffect, useRef } from 'react';
import { preferences } from '../../../session/preferences.ts';
import { clockTime } from '../../../text/format.ts';
import { barsOf, columnsOf, drawBars, type Peaks } from './peaks.ts';
import type { Player } from './player.ts';

const STEP_PX = 3;
const FILL_PX = 2;
const NO_PEAKS: Peaks = { min: [], max: [] };

/**
 * The waveform, with a slider over it: the slider takes clicks, drags and keys, and screen readers read it.
 * @param peaks  null: a line
 */
export function Waveform({ player, peaks }: { player: Player; peaks: Peaks | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  useDrawing(canvas, player, peaks ?? NO_PEAKS);
  usePosition(slider, player);
  return (
    <div className="waveform">
      <canvas ref={canvas} />
      <input
        ref={slider}
        type="range"
        data-player-position
        aria-label="Position"
        min={0}
        max={Math.max(0.001, player.durationSeconds)}
        step="any"
        defaultValue={player.seconds}
        onInput={(event) => player.seek(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}

/** Draws when the size, the peaks, the theme or the played column change. */
function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, player: Player, peaks: Peaks): void {
  useEffect(() => {
    const element = canvas.current!;
    const surface = element.getContext('2d');
    if (surface === null) return;
    let bars = barsOf(peaks, 1);
    let drawnColumn = -1;
    const draw = () => {
      const played = player.durationSeconds > 0 ? player.seconds / player.durationSeconds : 0;
      const column = Math.ceil(played * bars.low.length);
      if (column === drawnColumn) return;
      drawnColumn = column;
      const scale = devicePixelRatio;
      const { color, caretColor } = getComputedStyle(element);
      drawBars(surface, bars, {
        width: element.width,
        height: element.height,
        step: STEP_PX * scale,
        fill: FILL_PX * scale,
        played,
        colors: { played: color, ahead: caretColor },
      });
    };
    const redraw = () => {
      drawnColumn = -1;
      draw();
    };
    const resize = () => {
      element.width = Math.round(element.clientWidth * devicePixelRatio);
      element.height = Math.round(element.clientHeight * devicePixelRatio);
      bars = barsOf(peaks, columnsOf({ width: element.width, step: STEP_PX * devicePixelRatio }));
      redraw();
    };
    const sizes = new ResizeObserver(resize);
    sizes.observe(element);
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', redraw);
    const ends = [preferences.subscribe(redraw), player.onTime(draw)];
    return () => {
      sizes.disconnect();
      system.removeEventListener('change', redraw);
      for (const end of ends) end();
    };
  }, [canvas, player, peaks]);
}

function usePosition(slider: RefObject<HTMLInputElement | null>, player: Player): void {
  useEffect(() => {
    const update = (seconds: number) => {
      const element = slider.current!;
      element.value = String(seconds);
      const text = `${clockTime(seconds)} of ${clockTime(player.durationSeconds)}`;
      if (element.getAttribute('aria-valuetext') !== text) element.setAttribute('aria-valuetext', text);
    };
    update(player.seconds);
    return player.onTime(update);
  }, [slider, player]);
}
