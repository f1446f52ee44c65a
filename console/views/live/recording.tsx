import { useEffect, useState } from 'react';
import { useStore } from '../../session/store.ts';
import { clockTime } from '../../text/format.ts';
import { live, sound } from './live-store.ts';

const TICK_MS = 500;
const QUIET_MS = 5_000;

/** How the recording goes: its time, the level of the microphone, and what is wrong with either. */
export function Recording() {
  const { phase, startedAtMs, isConnected } = useStore(live);
  const nowMs = useNow();
  if (phase === 'starting') return <span role="status">Opening the microphone…</span>;
  if (phase === 'finishing') return <span role="status">Transcribing the last words…</span>;
  return (
    <>
      <span role="timer">{clockTime(Math.max(0, nowMs - startedAtMs) / 1_000)}</span>
      <Level />
      {isConnected ? <Quiet nowMs={nowMs} /> : <Lost />}
    </>
  );
}

function Level() {
  const { level } = useStore(sound);
  return <meter className="level" min={0} max={1} value={level} aria-label="Level of the microphone" />;
}

function Quiet({ nowMs }: { nowMs: number }) {
  const { quietSinceMs } = useStore(sound);
  if (nowMs - quietSinceMs < QUIET_MS) return null;
  return <span role="status">No sound. Check that this is the right microphone.</span>;
}

function Lost() {
  const { waitingSeconds } = useStore(sound);
  return (
    <span className="wrong">
      <span role="status">
        The connection is lost. The audio is kept, and sent when the connection is back within a minute.
      </span>{' '}
      <span>{Math.round(waitingSeconds)} s are waiting.</span>
    </span>
  );
}

function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
