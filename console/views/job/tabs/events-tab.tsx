import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Delivery, Event } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Section } from '../../../ui/page.tsx';
import { Empty, Query } from '../../../ui/state.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { Time } from '../../../ui/time.tsx';

// A job has one event, and one more for each time that it is sent again.
const MAX_EVENTS = 20;

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Attempt',
    cell: ({ webhook_id, id, attempt }) => (
      <Link to={`/webhooks/${webhook_id}/deliveries/${id}` as never}>{`Attempt ${attempt}`}</Link>
    ),
  },
  { head: 'State', cell: ({ status }) => <Badge>{status}</Badge> },
  { head: 'Answer', isLong: true, cell: ({ response_status, error }) => response_status ?? error?.message ?? '–' },
  {
    head: 'Webhook',
    isLong: true,
    cell: ({ webhook_id, url }) => <Link to={`/webhooks/${webhook_id}` as never}>{url ?? webhook_id}</Link>,
  },
  { head: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The events of a job, each with the attempts to deliver it. Needs the scope webhooks:read. */
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
  });
  return (
    <Section title={event.type} actions={<Link to={`/events/${event.id}` as never}>Open the event</Link>}>
      <Query of={query}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p>No webhook was subscribed to it.</p>
          ) : (
            <Table label={`Deliveries of ${event.id}`} columns={COLUMNS} rows={deliveries} keyOf={({ id }) => id} />
          )
        }
      </Query>
    </Section>
  );
}
