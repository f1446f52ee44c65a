/** How long the oldest of several waits: 0.3 s, 42 s, 3 min, 2.5 h. */
export function waitOf(oldestSeconds: number): string {
  if (oldestSeconds < 9.95) return `${oldestSeconds.toFixed(1)} s`;
  if (oldestSeconds < 119.5) return `${Math.round(oldestSeconds)} s`;
  if (oldestSeconds < 7_170) return `${Math.round(oldestSeconds / 60)} min`;
  return `${(oldestSeconds / 3600).toFixed(1)} h`;
}
