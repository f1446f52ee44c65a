import { useEffect, useRef } from 'react';
import type { StreamFrame } from '#sdk/client/index.ts';
import { session } from '../session/session.ts';
import { openStore } from '../session/store.ts';
import { api } from './client.ts';

// One stream of the account (GET /v1/stream) for the whole tab, open while a view follows it. The SDK connects again
// after a cut, from the last frame.

/** `polling`: the API refuses the stream: the account has too many, or the key may read nothing of it. */
export type LiveState = 'off' | 'connecting' | 'open' | 'polling';

export const liveState = openStore<LiveState>('off');

// A stream is kept for the next view for a moment.
const LINGER_MS = 2_000;
const listeners = new Set<(frame: StreamFrame) => void>();
let connection: AbortController | null = null;
let followed = session.get().account;

/**
 * Calls `onFrame` for each frame of the account's stream while the component is shown.
 * @param onFrame  null: does not follow
 */
export function useLive(onFrame: ((frame: StreamFrame) => void) | null): void {
  const latest = useRef(onFrame);
  useEffect(() => {
    latest.current = onFrame;
  });
  const isFollowing = onFrame !== null;
  useEffect(() => {
    if (!isFollowing) return;
    const listener = (frame: StreamFrame) => latest.current?.(frame);
    listeners.add(listener);
    connect();
    return () => {
      listeners.delete(listener);
      setTimeout(() => listeners.size === 0 && disconnect(), LINGER_MS);
    };
  }, [isFollowing]);
}

session.subscribe(() => {
  if (session.get().account === followed) return;
  disconnect();
  if (listeners.size > 0) connect();
});

function connect(): void {
  followed = session.get().account;
  if (connection || followed === null) return;
  connection = new AbortController();
  void follow(connection.signal);
}

function disconnect(): void {
  connection?.abort();
  connection = null;
  liveState.set('off');
}

async function follow(signal: AbortSignal): Promise<void> {
  liveState.set('connecting');
  try {
    const onConnection = ({ state }: { state: string }) => liveState.set(state === 'connected' ? 'open' : 'connecting');
    for await (const frame of api.stream({ signal, onConnection })) {
      if (signal.aborted) return;
      for (const listener of [...listeners]) listener(frame);
    }
  } catch {
    if (signal.aborted) return;
    connection = null;
    liveState.set('polling');
  }
}
