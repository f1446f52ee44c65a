/** What is counted of live sessions. */
export type LiveMetrics = {
  liveConnected(kind: 'new' | 'resumed'): void;
  liveClosed(code: number): void;
  liveAcknowledged(lagMs: number): void;
  liveTaken(plan: string, audioMs: number): void;
};
