import { useEffect, useMemo, useRef, useState } from 'react';
import type { Job } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { WaitNote } from '../../parts/job-state.tsx';
import { Legend } from '../../parts/voices/legend.tsx';
import { voiceOf, voicesOf } from '../../parts/voices/voices.ts';
import { clockTime } from '../../text/format.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/state.tsx';
import { applyEvents, type LiveEvent, type LiveJob } from './live-job.ts';
import { Progress } from './progress.tsx';
import { type Rows, VirtualRows } from './rows/virtual-rows.tsx';

/**
 * An open job: its place in the queue, its progress, and its segments as they come.
 * @param onEnd  called when it has ended
 */
export function LiveView({ job, onEnd }: { job: Job; onEnd: () => void }) {
  const { live, error, again } = useLiveJob(job, onEnd);
  const rows = useRef<Rows>(null);
  const [isFollowing, setFollowing] = useState(true);
  const { segments } = live;
  const voices = useMemo(() => voicesOf(segments), [segments]);
  useEffect(() => {
    if (isFollowing && segments.length > 0) rows.current?.show(segments.length - 1);
  }, [segments, isFollowing]);
  return (
    <section className="card transcript" aria-label="Live transcript">
      <Progress live={live} audioSeconds={job.audio.duration_seconds} startedAt={job.started_at} />
      <WaitNote wait={live.wait ?? job} />
      {segments.length > 0 && (
        <div className="tools">
          <Button aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
            Follow new text
          </Button>
        </div>
      )}
      {error !== null && <Problem error={error} retry={again} />}
      <Legend voices={[...voices.values()]} />
      <VirtualRows ref={rows} count={segments.length} label="Segments" onReaderScroll={() => setFollowing(false)}>
        {(at) => {
          const { start, text, ...rest } = segments[at]!;
          const voice = voices.get(voiceOf(rest) ?? '');
          return (
            <article className="segment" data-voice={voice?.color}>
              <span className="segment-time">{clockTime(start, 1)}</span>
              <div className="segment-body">
                {voice && <span className="voice">{voice.label}</span>}
                <p dir="auto">{text}</p>
              </div>
            </article>
          );
        }}
      </VirtualRows>
    </section>
  );
}

/** Follows the job. Events that come between two paints are applied together. */
function useLiveJob(job: Job, onEnd: () => void) {
  const [live, setLive] = useState<LiveJob>(() => ({
    status: job.status,
    queuePosition: job.queue_position ?? null,
    progress: job.progress,
    segments: [],
  }));
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const latestOnEnd = useRef(onEnd);
  latestOnEnd.current = onEnd;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt follows again
  useEffect(() => {
    const stop = new AbortController();
    let waiting: LiveEvent[] = [];
    let frame: number | null = null;
    const apply = () => {
      frame = null;
      const events = waiting;
      waiting = [];
      setLive((before) => applyEvents(before, events));
    };
    async function follow() {
      for await (const event of api.jobs.follow(job.id, { signal: stop.signal })) {
        waiting.push(event);
        frame ??= requestAnimationFrame(apply);
      }
      if (!stop.signal.aborted) latestOnEnd.current();
    }
    setError(null);
    follow().catch((cause: unknown) => !stop.signal.aborted && setError(cause));
    return () => {
      stop.abort();
      if (frame !== null) cancelAnimationFrame(frame);
    };
  }, [job.id, attempt]);
  return { live, error, again: () => setAttempt((before) => before + 1) };
}
