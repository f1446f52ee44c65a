import { clockTime } from '../../text/format.ts';
import type { Voice } from './voices.ts';

/** The speakers or channels, each with its colour and how long it is heard. */
export function Legend({ voices }: { voices: readonly Voice[] }) {
  if (voices.length === 0) return null;
  return (
    <ul className="legend" aria-label="Speakers and channels">
      {voices.map(({ id, label, color, seconds }) => (
        <li key={id} data-voice={color}>
          <span className="voice">{label}</span> {clockTime(seconds)}
        </li>
      ))}
    </ul>
  );
}
