import { memo, useEffect, useRef } from 'react';
import type { LiveSegment } from '#sdk/client/index.ts';
import { useStore } from '../../session/store.ts';
import { clockTime } from '../../text/format.ts';
import { Copy } from '../../ui/copy.tsx';
import { Section } from '../../ui/page.tsx';
import { live } from './live-store.ts';

// The reader is at the end when so little is below.
const NEAR_END_PX = 160;

/** What was said, and the words of what is being said. */
export function LiveText() {
  const { phase, segments, open } = useStore(live);
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the text.
  useEffect(() => {
    const { scrollHeight } = document.documentElement;
    if (scrollHeight - innerHeight - scrollY < NEAR_END_PX) end.current?.scrollIntoView({ block: 'nearest' });
  }, [segments, open]);
  if (phase === 'idle' || phase === 'starting') return null;
  const text = segments.map((segment) => segment.text).join('\n');
  return (
    <Section title="Text" actions={segments.length > 0 && <Copy text={text} what="the text" />}>
      <div role="log" aria-label="What was said">
        <ol className="live-text">
          {segments.map((segment) => (
            <Segment key={segment.seq} segment={segment} />
          ))}
        </ol>
      </div>
      {open && (
        <p className="live-open">
          <span>{open.text.slice(0, open.stable)}</span>
          <span className="soft">{open.text.slice(open.stable)}</span>
        </p>
      )}
      {segments.length === 0 && !open && (
        <p className="soft">{phase === 'ended' ? 'No words were heard.' : 'Speak…'}</p>
      )}
      <div ref={end} />
    </Section>
  );
}

const Segment = memo(({ segment: { start, text } }: { segment: LiveSegment }) => (
  <li>
    <span className="soft">{clockTime(start)}</span> {text}
  </li>
));
