import type { Event } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useLiveList } from '../../api/list.ts';
import { FilterSelect, Filters, useFilters } from '../../app/filters.tsx';
import { EVENT_TYPES } from '../../event-types.ts';
import { ListRows } from '../../parts/list-rows.tsx';
import { AsCode } from '../../ui/code/as-code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { type Column, NewRows } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';

const PAGE = 50;

const COLUMNS: Column<Event>[] = [
  { head: 'Event', cell: ({ id, type }) => <a href={`#/events/${id}`}>{type}</a> },
  { head: 'Id', phone: 'hidden', cell: ({ id }) => <code>{id}</code> },
  { head: 'Job', cell: ({ job_id }) => (job_id ? <a href={`#/jobs/${job_id}`}>{job_id}</a> : '–') },
  { head: 'Time', width: 8, cell: ({ created_at }) => <Time at={created_at} /> },
];

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
        columns={COLUMNS}
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
