import type { ConnectionState, StreamFrame } from '#sdk/client/index.ts';
import type { Attempt } from '../delivery/forwarder.ts';

/** For whom a run listens, and where its secret is from. */
export type RunInfo = {
  account: { name: string | null; plan: string };
  /** Where events are forwarded to, in words; empty: they are shown only. */
  targets: string;
  secret: string;
  /** In words. */
  secretSource: string;
};

/** What a run shows of itself: lines, JSON, or a screen. */
export type View = {
  start(info: RunInfo): void;
  frame(frame: StreamFrame, isForwarded: boolean): void;
  attempt(attempt: Attempt): void;
  target(host: URL, isUp: boolean): void;
  connection(state: ConnectionState): void;
};
