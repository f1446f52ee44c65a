import type { Delivery } from '#sdk/api.ts';

const NAMES = [
  'status',
  'event_type',
  'reason',
  'status_class',
  'attempt',
  'after',
  'before',
  'event_id',
  'webhook_id',
];

/** Parameters of GET /v1/deliveries, as text. */
export type LogQuery = Readonly<Record<string, string>>;

/** Those of an address's filters that the log has. */
export function logQuery(filters: LogQuery): LogQuery {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => NAMES.includes(name)));
}

/** Whether the log lists an entry under these filters; for entries that come by the stream. */
export function isListed(entry: Delivery, query: LogQuery): boolean {
  const { after, before, status_class } = query;
  const fields: [name: string, value: string | number | undefined][] = [
    ['status', entry.status],
    ['event_type', entry.event_type],
    ['event_id', entry.event_id],
    ['webhook_id', entry.webhook_id],
    ['attempt', entry.attempt],
    ['reason', entry.error?.reason],
  ];
  const createdMs = Date.parse(entry.created_at);
  return (
    fields.every(([name, value]) => query[name] === undefined || query[name] === String(value ?? '')) &&
    (status_class === undefined || String(entry.response_status ?? '')[0] === status_class[0]) &&
    (after === undefined || createdMs >= Date.parse(after)) &&
    (before === undefined || createdMs <= Date.parse(before))
  );
}
