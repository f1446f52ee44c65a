import type { Delivery } from '#sdk/api.ts';

/** When an attempt was sent: its entry was made when the attempt before it failed. Null for one that was not sent. */
export function sentAt({ completed_at, duration_ms }: Pick<Delivery, 'completed_at' | 'duration_ms'>): string | null {
  if (completed_at === null || duration_ms === null) return null;
  return new Date(Date.parse(completed_at) - duration_ms).toISOString();
}
