import type { ReactNode } from 'react';

// A state as a coloured word.
//
//   <Badge>{job.status}</Badge>            the colour follows the word
//   <Badge tone="bad">7 failed</Badge>

export type Tone = 'good' | 'bad' | 'wait' | 'neutral';

const TONES: Record<string, Tone> = {
  completed: 'good',
  succeeded: 'good',
  active: 'good',
  ready: 'good',
  failed: 'bad',
  disabled: 'bad',
  dropped: 'bad',
  queued: 'wait',
  processing: 'wait',
  pending: 'wait',
};

/** @param tone  absent: that of the word */
export function Badge({ tone, children }: { tone?: Tone; children: ReactNode }) {
  const found = tone ?? (typeof children === 'string' ? TONES[children] : undefined) ?? 'neutral';
  return <span className={`badge ${found}`}>{children}</span>;
}
