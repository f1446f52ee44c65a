import { useEffect, useRef, useState } from 'react';
import type { LiveJob } from './live-job.ts';
import { progressText } from './progress-text.ts';

const EVERY_MS = 1_000;

/** What an open job does, how far it is, and how long that will take. */
export function Progress({
  live,
  audioSeconds,
  startedAt,
}: {
  live: LiveJob;
  audioSeconds: number | null;
  /** Null where the job had not started when the page was opened. */
  startedAt: string | null;
}) {
  const elapsedSeconds = useElapsed(live.status === 'processing', startedAt);
  const { now, figures } = progressText({ live, audioSeconds, elapsedSeconds });
  // Without a value the bar moves.
  const value = live.status === 'processing' && live.progress > 0 ? { value: live.progress } : {};
  return (
    <>
      <div className="progress-head">
        <p role="status">{now}</p>
        <span className="soft">{figures}</span>
      </div>
      <progress max={1} {...value} aria-label="Progress" />
    </>
  );
}

function useElapsed(isRunning: boolean, startedAt: string | null): number | null {
  const since = useRef<number | null>(null);
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNowMs(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (!isRunning) return null;
  since.current ??= startedAt === null ? Date.now() : Date.parse(startedAt);
  return Math.max(0, Math.round((nowMs - since.current) / 1_000));
}
