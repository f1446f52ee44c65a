import type { Delivery, Page, Webhook, WebhookWithSecret } from '../../sdk/src/wire.ts';
import { get, send } from '../api.ts';
import type { View } from '../app.ts';
import { action, filter, form, nothing, pager, reload, secretBox } from '../controls.ts';
import type { Child } from '../dom.ts';
import { badge, facts, field, fill, h, say, select, table, time } from '../dom.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { milliseconds, withQuery } from '../format.ts';
import { readWebhook, SECRET_HINT, stateOf, webhookFields } from './webhooks.ts';

const STATUSES = ['succeeded', 'failed', 'pending', 'dropped'];
const OVERLAPS: [string, string][] = [
  ['86400', 'works on for a day'],
  ['3600', 'works on for an hour'],
  ['0', 'ends at once'],
];

/** `next_since`: set when one request did not look at all events of that time. */
type Recovery = { events: number; next_since?: string };

/** One webhook: its state, its log, and forms to change it. */
export const showWebhook: View = async (main, { parts, query }) => {
  const path = `/v1/webhooks/${encodeURIComponent(parts[1]!)}`;
  const [webhook, log] = await Promise.all([
    get<Webhook>(path),
    get<Page<Delivery>>(withQuery(`${path}/deliveries`, query)),
  ]);
  const buttons = [
    webhook.active &&
      action('Send a test', () => send('POST', `${path}/test`).then(() => announce('A test event is on its way.')), {
        class: 'primary',
      }),
    action(webhook.active ? 'Disable' : 'Enable', () => send('PATCH', path, { active: !webhook.active }).then(reload)),
    action('Delete', () => remove(path), { confirm: 'Delete for good?', class: 'danger' }),
  ];
  fill(
    main,
    h('p', { class: 'crumbs' }, h('a', { href: '#/webhooks' }, 'Webhooks')),
    h('div', { class: 'head' }, h('h1', { class: 'url' }, webhook.url), h('div', { class: 'actions' }, buttons)),
    h(
      'section',
      { class: 'card figures' },
      facts(
        ['State', stateOf(webhook)],
        ['Id', h('code', {}, webhook.id)],
        ['Disabled', time(webhook.disabled_at)],
        ['Failing since', time(webhook.failing_since)],
        ['Created', time(webhook.created_at)],
      ),
    ),
    deliveryLog(log, webhook.id, query),
    h('section', { class: 'card' }, changeForms(path, webhook)),
  );
};

async function announce(words: string): Promise<void> {
  say(words);
  reload();
}

async function remove(path: string): Promise<void> {
  await send('DELETE', path);
  say('The webhook was deleted.');
  location.hash = '#/webhooks';
}

function deliveryLog(log: Page<Delivery>, id: string, query: Record<string, string>): Child {
  const here = `#/webhooks/${id}`;
  const tools = [
    filter('Status', 'status', STATUSES, here, query),
    filter('Event', 'event_type', EVENT_TYPES, here, query),
    h('button', { type: 'button', onclick: reload }, 'Refresh'),
  ];
  const rows = log.data.map((entry) => [
    h('a', { href: `${here}/deliveries/${entry.id}` }, entry.event_type),
    badge(entry.status),
    `attempt ${entry.attempt}`,
    entry.response_status ?? entry.error?.reason ?? '–',
    milliseconds(entry.duration_ms),
    entry.status === 'pending' ? ['next ', time(entry.next_attempt_at)] : time(entry.created_at),
  ]);
  return [
    h('div', { class: 'head' }, h('h2', {}, 'Deliveries'), h('div', { class: 'actions' }, tools)),
    rows.length === 0
      ? nothing('No deliveries here.')
      : table('Deliveries', ['Event', 'Status', 'Attempt', 'Answer', 'Took', 'Time'], rows),
    pager(here, query, log.next_cursor),
  ];
}

function changeForms(path: string, webhook: Webhook): Child {
  const secret = h('div', { 'aria-live': 'polite' });
  const change = async (given: FormData) => {
    await send('PATCH', path, readWebhook(given));
    await announce('Saved.');
  };
  const rotate = async (given: FormData) => {
    const made = await send<WebhookWithSecret>('POST', `${path}/rotate-secret`, {
      overlap_seconds: Number(given.get('overlap')),
    });
    fill(secret, secretBox('The new secret', made.secret, SECRET_HINT));
  };
  const recover = async (given: FormData) => {
    let since: string | undefined = new Date(String(given.get('since'))).toISOString();
    let events = 0;
    while (since !== undefined) {
      const part: Recovery = await send<Recovery>('POST', `${path}/recover`, { since });
      events += part.events;
      since = part.next_since;
    }
    await announce(events === 1 ? '1 event is sent again.' : `${events} events are sent again.`);
  };
  const since = h('input', { name: 'since', type: 'datetime-local', required: true });
  return [
    h('details', {}, h('summary', {}, 'Change'), form('Change the webhook', webhookFields(webhook), 'Save', change)),
    h(
      'details',
      {},
      h('summary', {}, 'Recover missed events'),
      form(
        'Recover',
        [field('Since', since, 'Every event since then that this webhook did not accept is sent again.')],
        'Recover',
        recover,
      ),
    ),
    h(
      'details',
      {},
      h('summary', {}, 'Rotate the secret'),
      form('Rotate the secret', [field('The old secret', select('overlap', OVERLAPS))], 'Make a new secret', rotate),
      secret,
    ),
  ];
}
