import type { Delivery } from '#sdk/api.ts';
import { Time } from '../../ui/time.tsx';
import { useNamesOfEvents } from './event-facts.ts';
import { groupByEvent } from './groups.ts';
import { WebhookRows } from './webhook-rows.tsx';

/** Entries of the delivery log by event, and within it by webhook. @param entries  newest first */
export function EventGroups({ entries }: { entries: readonly Delivery[] }) {
  const names = useNamesOfEvents(entries);
  return (
    <ol className="event-groups" aria-label="Events">
      {groupByEvent(entries).map(({ eventId, eventType, webhooks }) => (
        <li key={eventId} className="card">
          <div className="head">
            <h2>
              <a href={`#/events/${eventId}`} dir="auto">
                {names.get(eventId) ?? eventType}
              </a>
            </h2>
            <small>
              {names.has(eventId) && `${eventType}, `}
              <Time at={firstOf(webhooks.flatMap(({ attempts }) => attempts)).created_at} />
            </small>
          </div>
          <WebhookRows label={`Webhooks of ${eventType}`} webhooks={webhooks} />
        </li>
      ))}
    </ol>
  );
}

/** Entries are made at the time of the event, and after each failure. */
function firstOf(attempts: readonly Delivery[]): Delivery {
  return attempts.reduce((first, attempt) => (attempt.created_at < first.created_at ? attempt : first));
}
