import { useQuery } from '@tanstack/react-query';
import type { Delivery } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { answerOf, attemptHref } from '../../deliveries/attempt-table.tsx';
import { Time } from '../../ui/time.tsx';

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

/** Each attempt of the event as a link, with its result. */
export function AttemptTabs({ attempts, shownId }: { attempts: Delivery[]; shownId: string }) {
  if (attempts.length < 2) return null;
  return (
    <nav className="tabs" aria-label="Attempts of the event">
      {attempts.map((attempt) => (
        <a
          key={attempt.id}
          className={`attempt-tab ${attempt.status}`}
          href={attemptHref(attempt)}
          aria-current={attempt.id === shownId ? 'page' : undefined}
        >
          {attempt.attempt}:{' '}
          {attempt.status === 'pending' ? 'waits' : attempt.status === 'dropped' ? 'dropped' : answerOf(attempt)}{' '}
          <small>
            <Time at={attempt.status === 'pending' ? attempt.next_attempt_at : attempt.created_at} />
          </small>
        </a>
      ))}
    </nav>
  );
}
