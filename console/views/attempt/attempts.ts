import { useQuery } from '@tanstack/react-query';
import type { Delivery } from '#sdk/api.ts';
import { api } from '../../api/client.ts';

// Four attempts a round; sending again adds rounds.
const MAX_SHOWN = 50;
const POLL_MS = 2_000;

type Place = Pick<Delivery, 'webhook_id' | 'event_id'>;

/** The attempts of the event at this webhook, oldest first; empty until they are read. */
export function useAttempts(place: Place): Delivery[] {
  const attempts = useQuery({
    queryKey: ['deliveries', place.webhook_id, 'event', place.event_id],
    queryFn: ({ signal }) => readAttempts(place, signal),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'pending') ? POLL_MS : false),
  });
  return attempts.data ?? [];
}

/** Oldest first. */
export async function readAttempts({ webhook_id, event_id }: Place, signal?: AbortSignal): Promise<Delivery[]> {
  const { data } = await api.webhooks.deliveries(webhook_id, { event_id, limit: MAX_SHOWN }, { signal });
  return data.reverse();
}
