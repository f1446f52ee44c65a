/** At most `count` requests in any span of `windowMs`. */
export type WindowLimit = { count: number; windowMs: number };

/** What was admitted so far, in any order; entries that have left the window are ignored. */
export type Window = { admittedMs: readonly number[]; nowMs: number; limit: WindowLimit };

export type WindowState = {
  limit: number;
  /** Requests that would be admitted now. */
  remaining: number;
  /** Whole seconds after which the window is empty again; 0 when it is. */
  resetSeconds: number;
};

export type Admission =
  | { kind: 'admitted'; admittedMs: number[]; state: WindowState }
  | { kind: 'refused'; retryAfterSeconds: number; state: WindowState };

/** The window as the RateLimit headers show it. */
export function describeWindow(window: Window): WindowState {
  const inside = insideWindow(window);
  const newestMs = inside.at(-1);
  const resetSeconds = newestMs === undefined ? 0 : secondsUntil(newestMs + window.limit.windowMs, window.nowMs);
  return { limit: window.limit.count, remaining: Math.max(0, window.limit.count - inside.length), resetSeconds };
}

/** Whole seconds, at least 1, after which one request will be admitted (if no other is admitted before). */
export function retryAfterSeconds(window: Window): number {
  const inside = insideWindow(window);
  // The request that must leave the window so that count - 1 are left.
  const blockingMs = inside.at(-window.limit.count);
  return blockingMs === undefined ? 1 : Math.max(1, secondsUntil(blockingMs + window.limit.windowMs, window.nowMs));
}

/**
 * Whether one more request is admitted now, and the admissions to keep then. Refused requests leave no trace.
 * A request leaves the window exactly `windowMs` after it was admitted.
 */
export function judgeAdmission(window: Window): Admission {
  const inside = insideWindow(window);
  if (inside.length >= window.limit.count) {
    return { kind: 'refused', retryAfterSeconds: retryAfterSeconds(window), state: describeWindow(window) };
  }
  const admittedMs = [...inside, window.nowMs].sort((a, b) => a - b);
  return { kind: 'admitted', admittedMs, state: describeWindow({ ...window, admittedMs }) };
}

/**
 * The admissions that still count, oldest first. One from the future counts too: the clock went back, and forgetting
 * it would admit more than the limit in a span.
 */
function insideWindow({ admittedMs, nowMs, limit }: Window): number[] {
  return admittedMs.filter((atMs) => atMs > nowMs - limit.windowMs).sort((a, b) => a - b);
}

function secondsUntil(thenMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((thenMs - nowMs) / 1000));
}
