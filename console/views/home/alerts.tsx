import { useQuery } from '@tanstack/react-query';
import type { AnyEvent } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

type Alert = Extract<AnyEvent, { type: 'webhook.disabled' | 'webhook.exhausted' }>;

const TYPES = ['webhook.disabled', 'webhook.exhausted'] as const;
const SHOWN_MS = 7 * 24 * 3_600_000;
// Of each type. The list of events has more of them.
const SHOWN = 3;

/** What the account was told of its webhooks in the last week: one was disabled, or a delivery was given up. */
export function Alerts() {
  const { data } = useQuery({ queryKey: ['events', 'alerts'], queryFn: ({ signal }) => findAlerts(signal) });
  if (!data || data.length === 0) return null;
  return (
    <Section title="Deliveries that failed for good">
      <ul className="failing">
        {data.map((alert) => (
          <Row key={alert.id} alert={alert} />
        ))}
      </ul>
    </Section>
  );
}

async function findAlerts(signal: AbortSignal): Promise<Alert[]> {
  const lists = await Promise.all(TYPES.map((type) => api.events.list({ type, limit: SHOWN }, { signal })));
  const recent = lists
    .flatMap(({ data }) => data)
    .filter(({ created_at }) => Date.parse(created_at) > Date.now() - SHOWN_MS)
    .sort((left, right) => (left.id < right.id ? 1 : -1));
  const events = await Promise.all(recent.map(({ id }) => api.events.get(id, { signal })));
  return events.map(({ payload }) => payload as Alert);
}

function Row({ alert: { id, type, created_at, data } }: { alert: Alert }) {
  const { webhook } = data;
  return (
    <li>
      <a href={`#/webhooks/${webhook.id}`} title={webhook.url}>
        {webhook.url}
      </a>
      <span className="soft">
        {type === 'webhook.disabled'
          ? `disabled after ${webhook.consecutive_failures} failed attempts in a row`
          : 'did not accept an event in any attempt'}
      </span>
      <a href={`#/events/${id}`}>Event</a>
      <Time at={created_at} />
    </li>
  );
}
