import { useQuery } from '@tanstack/react-query';
import type { Delivery, Event } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { groupByWebhook } from '../../../deliveries/timeline/groups.ts';
import { WebhookRows } from '../../../deliveries/timeline/webhook-rows.tsx';
import { Section } from '../../../ui/page.tsx';
import { Empty, Query } from '../../../ui/state.tsx';

// A job has one event, and one more for each time that it is sent again.
const MAX_EVENTS = 20;
const POLL_MS = 5_000;

/** The events of a job, each with the webhooks that it was sent to. Needs the scope webhooks:read. */
export function EventsTab({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['job', id, 'events'],
    queryFn: async ({ signal }) => await api.events.list({ job_id: id, limit: MAX_EVENTS }, { signal }),
  });
  return (
    <Query of={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No event was emitted for this job.">
            <p>An event is emitted when a job completes or fails. Canceled jobs have none.</p>
          </Empty>
        ) : (
          data.map((event) => <EventPart key={event.id} event={event} />)
        )
      }
    </Query>
  );
}

function EventPart({ event }: { event: Event }) {
  const query = useQuery({
    queryKey: ['event', event.id],
    queryFn: ({ signal }) => api.events.get(event.id, { signal }),
    refetchInterval: ({ state }) => (state.data?.deliveries.some(isWaiting) ? POLL_MS : false),
  });
  return (
    <Section title={event.type} actions={<a href={`#/events/${event.id}`}>Open the event</a>}>
      <Query of={query}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p>No webhook subscribes to this event.</p>
          ) : (
            <WebhookRows label={`Deliveries of ${event.id}`} webhooks={groupByWebhook(deliveries)} />
          )
        }
      </Query>
    </Section>
  );
}

function isWaiting({ status }: Delivery): boolean {
  return status === 'pending';
}
