import type { JobInList } from '#sdk/wire.ts';
import { Badge } from '../ui/badge.tsx';

const SHOWN_CHARS = 200;
const LOST: Record<string, string> = { no_speech: 'no speech', untranscribed: 'untranscribed' };

/** How the text of a job begins, or why it has none; before it, whether audio has no text. */
export function JobText({ job: { error, text, warnings } }: { job: JobInList }) {
  const lost = warnings.find(({ code }) => code in LOST);
  const shown = error?.message ?? (text ? text.slice(0, SHOWN_CHARS) : lost?.message);
  if (!shown) return null;
  return (
    <span className="snippet">
      {lost && (
        // Not a part of the text that says from which side it is read.
        <bdi>
          <Badge tone="wait">{LOST[lost.code]}</Badge>{' '}
        </bdi>
      )}
      {shown}
    </span>
  );
}
