import type { Delivery } from '../../sdk/src/wire.ts';
import { get, send } from '../api.ts';
import type { View } from '../app.ts';
import { action, nothing } from '../controls.ts';
import type { Child } from '../dom.ts';
import { badge, facts, fill, h, say, time } from '../dom.ts';
import { headerLines, milliseconds } from '../format.ts';
import { prettyJson } from '../json-text.ts';

type Exchange = { headers: unknown; body: string | null } | null;
type Logged = Delivery & { remote_address?: string | null; request: Exchange; response: Exchange };

/** One attempt: its request, its response and the time of each step. */
export const showDelivery: View = async (main, { parts }) => {
  const back = `#/webhooks/${parts[1]}`;
  const path = `/v1/webhooks/${encodeURIComponent(parts[1]!)}/deliveries/${encodeURIComponent(parts[3] ?? '')}`;
  const entry = await get<Logged>(path);
  const again = async () => {
    await send('POST', `${path}/redeliver`);
    say('It is sent again.');
    location.hash = back;
  };
  fill(
    main,
    h(
      'p',
      { class: 'crumbs' },
      h('a', { href: '#/webhooks' }, 'Webhooks'),
      ' / ',
      h('a', { href: back }, 'Deliveries'),
    ),
    h(
      'div',
      { class: 'head' },
      h('h1', {}, `${entry.event_type}, attempt ${entry.attempt}`),
      h('div', { class: 'actions' }, action('Send again', again)),
    ),
    entry.error &&
      h('div', { class: 'notice problem' }, h('p', {}, entry.error.message, ' ', h('code', {}, entry.error.reason))),
    h(
      'section',
      { class: 'card figures' },
      facts(
        ['Status', badge(entry.status)],
        ['Answer', entry.response_status ?? '–'],
        ['Took', milliseconds(entry.duration_ms)],
        ['Sent', time(entry.created_at)],
        ['Next attempt', time(entry.next_attempt_at)],
        ['Event', h('a', { href: `#/events/${entry.event_id}` }, entry.event_id)],
        ['URL', entry.url],
        ['Address', entry.remote_address ?? '–'],
      ),
    ),
    timings(entry),
    exchange('Request', entry.request, 'Not sent yet, or no connection came about.'),
    exchange('Answer', entry.response, 'None.'),
  );
};

function timings({ timings }: Logged): Child {
  if (!timings || timings.connect_ms === null) return null;
  const { dns_ms, connect_ms, tls_ms, first_byte_ms } = timings;
  return h(
    'section',
    { class: 'card figures' },
    h('h2', {}, 'Timings'),
    facts(
      ['Name', milliseconds(dns_ms)],
      ['Connection', milliseconds(connect_ms)],
      ['TLS', milliseconds(tls_ms)],
      ['First byte', milliseconds(first_byte_ms)],
    ),
  );
}

function exchange(title: string, part: Exchange, none: string): HTMLElement {
  const block = (name: string, text: string) => h('pre', { tabindex: 0, 'aria-label': `${title}: ${name}` }, text);
  const shown = part && [
    block('headers', headerLines(part.headers)),
    part.body ? block('body', prettyJson(part.body)) : nothing('No body.'),
  ];
  return h('section', { class: 'card' }, h('h2', {}, title), shown ?? nothing(none));
}
