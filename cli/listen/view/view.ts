import type { ConnectionState, StreamFrame } from '#sdk/client/index.ts';
import type { Attempt } from '../delivery/forwarder.ts';

/** Who listens, and where the secret is from. */
export type Greeting = {
  account: { name: string | null; plan: string };
  secret: string;
  /** In words. */
  secretSource: string;
};

/** What a run shows of itself: lines, JSON, or a screen. */
export type View = {
  greet(greeting: Greeting): void;
  frame(frame: StreamFrame, isForwarded: boolean): void;
  attempt(attempt: Attempt): void;
  target(host: URL, isUp: boolean): void;
  connection(state: ConnectionState): void;
};
