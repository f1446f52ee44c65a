import { preferences } from '../session/preferences.ts';
import { openStore, useStore } from '../session/store.ts';
import { exactTime, relativeTime } from '../text/times.ts';

// A time, relative to now; the exact time on hover, in the time zone that the user prefers.
//
//   <Time at={job.created_at} />          3 min ago
//   <Time at={job.created_at} exact />    21 Nov 2026, 10:30:00

const EVERY_MS = 20_000;
const now = openStore(Date.now());
setInterval(() => now.set(Date.now()), EVERY_MS);

/** @param at  as the API writes it; null: a dash */
export function Time({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  const nowMs = useStore(now);
  const { utc } = useStore(preferences);
  if (!at) return <>–</>;
  const full = exactTime(at, utc);
  return (
    <time dateTime={at} title={exact ? at : full}>
      {exact ? full : relativeTime(Date.parse(at), Math.max(nowMs, Date.now()), utc)}
    </time>
  );
}
