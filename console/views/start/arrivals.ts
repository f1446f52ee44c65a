import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Delivery, JobInList } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { useAccount } from '../../api/queries.ts';
import { WAYS, type WayName } from '../../parts/examples.ts';

export type Arrivals = {
  /** The newest job of each way. */
  jobs: Partial<Record<WayName, string>>;
  /** A delivery that a webhook has accepted. */
  delivery: { webhookId: string; id: string } | undefined;
};

const KEY = ['start'];
const NONE: Arrivals = { jobs: {}, delivery: undefined };
// Where the API says for how long it keeps them, this is far less.
const LOOKED_AT = 100;

/** What arrived of the examples: they carry the name of their way in the metadata. */
export function useArrivals(): Arrivals {
  const client = useQueryClient();
  const scopes = useAccount().data?.scopes ?? [];
  const { data } = useQuery({
    queryKey: KEY,
    enabled: scopes.includes('jobs:read'),
    async queryFn({ signal }) {
      const [jobs, deliveries] = await Promise.all([
        api.jobs.list({ limit: LOOKED_AT }, { signal }),
        scopes.includes('webhooks:read') ? api.deliveries.list({ status: 'succeeded', limit: 1 }, { signal }) : null,
      ]);
      // Newest first: the older ones are overwritten.
      return [...jobs.data.toReversed(), ...(deliveries?.data ?? [])].reduce<Arrivals>(add, NONE);
    },
  });
  useLive(({ type, data: changed }) => {
    if (type === 'job' || type === 'delivery') {
      client.setQueryData<Arrivals>(KEY, (before) => add(before ?? NONE, changed));
    }
  });
  return data ?? NONE;
}

function add(before: Arrivals, changed: JobInList | Delivery): Arrivals {
  if ('webhook_id' in changed) {
    const { status, webhook_id: webhookId, id } = changed;
    return status === 'succeeded' ? { ...before, delivery: { webhookId, id } } : before;
  }
  const way = wayOf(changed);
  return way ? { ...before, jobs: { ...before.jobs, [way]: changed.id } } : before;
}

function wayOf({ metadata }: JobInList): WayName | null {
  const { start } = (metadata ?? {}) as { start?: unknown };
  return WAYS.find(({ name }) => name === start)?.name ?? null;
}
