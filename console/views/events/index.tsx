import type { Event } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { FilterSelect, Filters, useFilters } from '../../app/filters.tsx';
import { useJobNames, useOutcomes } from '../../deliveries/timeline/event-facts.ts';
import type { WebhookAttempts } from '../../deliveries/timeline/groups.ts';
import { EVENT_TYPES } from '../../event-types.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { Badge } from '../../ui/badge.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { type Column, NewRows } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const PAGE = 50;

function columnsOf(
  names: ReadonlyMap<string, string>,
  outcomes: ReadonlyMap<string, readonly WebhookAttempts[]>,
): Column<Event>[] {
  const nameOf = ({ type, job_id }: Event) => (job_id === null ? type : (names.get(job_id) ?? job_id));
  return [
    {
      head: 'About',
      cell: (event) => (
        <a href={`#/events/${event.id}`} dir="auto">
          {nameOf(event)}
        </a>
      ),
    },
    { head: 'Outcome', width: 12, phone: 'side', cell: ({ id }) => <Outcome webhooks={outcomes.get(id) ?? []} /> },
    { head: 'Event', width: 13, cell: ({ type }) => <span className="soft">{type}</span> },
    {
      head: 'Job',
      width: 4,
      phone: 'hidden',
      cell: ({ job_id }) =>
        job_id && (
          <a href={`#/jobs/${job_id}`} aria-label={`Open the job ${names.get(job_id) ?? job_id}`}>
            Open
          </a>
        ),
    },
    { head: 'Time', width: 7, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

/** What became of an event: one word for all of its webhooks; nothing where it was sent to none. */
function Outcome({ webhooks }: { webhooks: readonly WebhookAttempts[] }) {
  if (webhooks.length === 0) return <span className="soft">–</span>;
  const latest = webhooks.map(({ attempts }) => attempts.at(-1)!.status);
  const countOf = (...statuses: string[]) => latest.filter((status) => statuses.includes(status)).length;
  const [failed, waiting] = [countOf('failed', 'dropped'), countOf('pending')];
  const of = webhooks.length > 1 ? ` of ${webhooks.length}` : '';
  if (failed > 0) return <Badge tone="bad">{of ? `${failed}${of} failed` : 'failed'}</Badge>;
  if (waiting > 0) return <Badge tone="wait">{of ? `${waiting}${of} pending` : 'pending'}</Badge>;
  return <Badge tone="good">{of ? `delivered to ${webhooks.length}` : 'delivered'}</Badge>;
}

/** What was emitted. */
export default function EventsView() {
  const [{ type = '' }] = useFilters();
  const query: Record<string, string> = type === '' ? {} : { type };
  const list = useLiveList<Event>({
    key: ['events', query],
    read: (cursor) => api.events.list({ ...query, limit: PAGE, ...(cursor && { cursor }) } as object),
    changed: (frame) => (frame.type === 'event' ? { ...frame.data, job_id: jobOf(frame.data.body) } : null),
    isListed: (event) => type === '' || event.type === type,
  });
  const columns = columnsOf(useJobNames(list.items), useOutcomes(list.items));
  return (
    <Page
      title="Events"
      actions={<AsCode request={{ method: 'GET', path: '/v1/events', query, sdk: 'client.events.list' }} />}
    >
      <Filters>
        <FilterSelect name="type" label="Type" values={EVENT_TYPES} />
      </Filters>
      <NewRows list={list} />
      <ListRows
        list={list}
        label="Events"
        columns={columns}
        empty={
          <Empty title={type ? 'No events of this type.' : 'No events yet.'} command="transcribe call.mp3">
            <p>A job that completes or fails creates an event, and so does a test of a webhook.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function jobOf(body: string): string | null {
  return (JSON.parse(body) as { data?: { job?: { id?: string } } }).data?.job?.id ?? null;
}
