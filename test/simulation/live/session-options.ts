/** What each simulated client asks of its live session. */
export const SESSION_OPTIONS = {
  encoding: 'pcm_s16le',
  sampleRate: 16_000,
  partials: false,
  endpointingMs: 600,
  maxSegmentSeconds: 10,
  resumeSeconds: 15,
  idleSeconds: 20,
} as const;
