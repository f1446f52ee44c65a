import type { Delivery } from '#sdk/api.ts';
import { CutUrl } from '../parts/cut-url.tsx';
import { milliseconds } from '../text/format.ts';
import { Badge } from '../ui/badge.tsx';
import { type Column, type Selection, Table } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';
import { reasonTitle } from './failure-advice.ts';
import { sentAt } from './sent-at.ts';

/** The address of an attempt's view. */
export function attemptHref({ webhook_id, id }: Pick<Delivery, 'webhook_id' | 'id'>): string {
  return `#/webhooks/${webhook_id}/deliveries/${id}`;
}

/** What came back: the status of the answer, or why none came. */
export function answerOf({ response_status, error }: Pick<Delivery, 'response_status' | 'error'>): string {
  if (response_status !== null) return String(response_status);
  return error ? reasonTitle(error.reason) : '–';
}

/** Status and time of an attempt, as a link to it. */
export function AttemptLink({ entry }: { entry: Delivery }) {
  return (
    <a href={attemptHref(entry)}>
      <Badge>{entry.status}</Badge> <Time at={timeOf(entry)} />
    </a>
  );
}

/** When it was sent, or will be. */
function timeOf(entry: Delivery): string | null {
  return entry.status === 'pending' ? entry.next_attempt_at : (sentAt(entry) ?? entry.created_at);
}

/** Entries of the delivery log. @param withUrl  over several webhooks: shows where each was sent */
export function AttemptTable({
  label,
  rows,
  withUrl = false,
  selection,
}: {
  label: string;
  rows: readonly Delivery[];
  withUrl?: boolean;
  selection?: Selection;
}) {
  const columns: Column<Delivery>[] = [
    { head: 'Event', cell: (entry) => <a href={attemptHref(entry)}>{entry.event_type}</a> },
    ...(withUrl
      ? [
          {
            head: 'Webhook',
            cell: (entry: Delivery) => <CutUrl url={entry.url ?? entry.webhook_id} />,
          },
        ]
      : []),
    { head: 'Status', width: 7.5, phone: 'side', cell: (entry) => <Badge>{entry.status}</Badge> },
    { head: 'Attempt', width: 5, phone: 'hidden', cell: (entry) => entry.attempt, isNumber: true },
    { head: 'Answer', width: 11, cell: answerOf },
    { head: 'Took', width: 5.5, cell: (entry) => milliseconds(entry.duration_ms), isNumber: true },
    { head: 'Time', width: 7.5, cell: (entry) => <Time at={timeOf(entry)} /> },
  ];
  return (
    <Table label={label} rows={rows} keyOf={(entry) => entry.id} columns={columns} {...(selection && { selection })} />
  );
}
