import type { Delivery, EventType, Page } from '../../sdk/src/wire.ts';
import { get, getText } from '../api.ts';
import type { View } from '../app.ts';
import { filter, nothing, pager, reload } from '../controls.ts';
import { badge, facts, fill, h, table, time } from '../dom.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { withQuery } from '../format.ts';
import { memberText, prettyJson } from '../json-text.ts';

type Emitted = { id: string; type: EventType; job_id: string | null; created_at: string };

/** The account's events, newest first. */
export const showEvents: View = async (main, { query }) => {
  const events = await get<Page<Emitted>>(withQuery('/v1/events', query));
  const rows = events.data.map((event) => [
    h('a', { href: `#/events/${event.id}` }, event.type),
    h('code', {}, event.id),
    event.job_id ? h('a', { href: `#/jobs/${event.job_id}` }, 'its job') : '–',
    time(event.created_at),
  ]);
  const tools = [
    filter('Type', 'type', EVENT_TYPES, '#/events', query),
    h('button', { type: 'button', onclick: reload }, 'Refresh'),
  ];
  fill(
    main,
    h('div', { class: 'head' }, h('h1', {}, 'Events'), h('div', { class: 'actions' }, tools)),
    rows.length === 0
      ? nothing('No events here. Each job that ends emits one.')
      : table('Events', ['Type', 'Id', 'Job', 'Time'], rows),
    pager('#/events', query, events.next_cursor),
  );
};

/** One event: its payload as receivers get it, and its deliveries. */
export const showEvent: View = async (main, { parts }) => {
  const text = await getText(`/v1/events/${encodeURIComponent(parts[1]!)}`);
  const event = JSON.parse(text) as Emitted & { deliveries: Delivery[] };
  const rows = event.deliveries.map((entry) => [
    h('a', { href: `#/webhooks/${entry.webhook_id}/deliveries/${entry.id}` }, entry.url),
    badge(entry.status),
    `attempt ${entry.attempt}`,
    time(entry.created_at),
  ]);
  fill(
    main,
    h('p', { class: 'crumbs' }, h('a', { href: '#/events' }, 'Events')),
    h('h1', {}, event.type),
    h(
      'section',
      { class: 'card figures' },
      facts(
        ['Id', h('code', {}, event.id)],
        ['Job', event.job_id ? h('a', { href: `#/jobs/${event.job_id}` }, event.job_id) : '–'],
        ['Time', time(event.created_at)],
      ),
    ),
    h('h2', {}, 'Deliveries'),
    rows.length === 0
      ? nothing('No webhook was subscribed.')
      : table('Deliveries', ['URL', 'Status', 'Attempt', 'Time'], rows),
    h(
      'section',
      { class: 'card' },
      h('h2', {}, 'Payload'),
      h('pre', { tabindex: 0 }, prettyJson(memberText(text, 'payload') ?? '')),
    ),
  );
};
