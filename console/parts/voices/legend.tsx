import type { ReactNode } from 'react';
import { clockTime } from '../../text/format.ts';
import { placeOf, type Voice } from './voices.ts';

/** The speakers or channels, each with its colour and how long it is heard. */
export function Legend({
  voices,
  children,
}: {
  voices: readonly Voice[];
  /** What can be done with a voice; absent: nothing. */
  children?: (voice: Voice) => ReactNode;
}) {
  if (voices.length === 0) return null;
  return (
    <ul className="legend" aria-label="Speakers and channels">
      {voices.map((voice) => (
        <li key={voice.id} id={placeOf(voice)} data-voice={voice.color}>
          <span className="voice">{voice.label}</span> {clockTime(voice.seconds)}
          {children?.(voice)}
        </li>
      ))}
    </ul>
  );
}
