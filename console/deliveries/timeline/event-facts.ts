import { useQuery } from '@tanstack/react-query';
import type { Delivery, Event } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/queries.ts';
import { jobName } from '../../parts/job-state.tsx';
import { groupByEvent, type WebhookAttempts } from './groups.ts';

const PAGE = 100;
/** Requests behind one look at a list: a longer list shows ids and no outcomes at its end. */
const MAX_ENTRIES = 400;
const POLL_MS = 5_000;

/** The names of the jobs of events, by the job's id. Empty where the key may not read jobs. */
export function useJobNames(events: readonly Pick<Event, 'id' | 'job_id'>[]): ReadonlyMap<string, string> {
  const mayRead = useMay('jobs:read');
  const count = events.filter(({ job_id }) => job_id !== null).length;
  const { data } = useQuery({
    queryKey: ['event-jobs', events[0]?.id, count],
    queryFn: async () => {
      const jobs = await api.jobs.list({ limit: PAGE }).toArray({ limit: Math.min(MAX_ENTRIES, 2 * count) });
      return new Map(jobs.map((job) => [job.id, jobName(job)]));
    },
    enabled: mayRead && count > 0,
    placeholderData: (before) => before,
  });
  return data ?? new Map();
}

/** What became of the events at each webhook, by the event's id. */
export function useOutcomes(events: readonly Event[]): ReadonlyMap<string, readonly WebhookAttempts[]> {
  const oldest = events.at(-1)?.created_at;
  const { data } = useQuery({
    queryKey: ['event-outcomes', events[0]?.id, oldest],
    queryFn: async () => {
      const after = new Date(Date.parse(oldest!) - 1).toISOString();
      const entries = await api.deliveries.list({ after, limit: PAGE }).toArray({ limit: MAX_ENTRIES });
      return new Map(groupByEvent(entries).map(({ eventId, webhooks }) => [eventId, webhooks]));
    },
    enabled: oldest !== undefined,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      [...(state.data?.values() ?? [])].flat().some(({ attempts }) => attempts.at(-1)?.status === 'pending') && POLL_MS,
  });
  return data ?? new Map();
}

/** The names of the jobs behind entries of the log, by the event's id. */
export function useNamesOfEvents(entries: readonly Delivery[]): ReadonlyMap<string, string> {
  const newest = entries[0]?.event_id;
  const count = new Set(entries.map(({ event_id }) => event_id)).size;
  const { data: events = [] } = useQuery({
    queryKey: ['events-of-log', newest, count],
    queryFn: () => api.events.list({ limit: PAGE }).toArray({ limit: Math.min(MAX_ENTRIES, 2 * count) }),
    enabled: count > 0,
    placeholderData: (before) => before,
  });
  const names = useJobNames(events);
  const named = events.flatMap(({ id, job_id }): [string, string][] => {
    const name = job_id === null ? undefined : names.get(job_id);
    return name === undefined ? [] : [[id, name]];
  });
  return new Map(named);
}
