import type { Page, Webhook, WebhookWithSecret } from '../../sdk/src/wire.ts';
import { get, send } from '../api.ts';
import type { View } from '../app.ts';
import { form, nothing, pager, secretBox } from '../controls.ts';
import type { Child } from '../dom.ts';
import { badge, field, fill, h, table, time } from '../dom.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { withQuery } from '../format.ts';

export const SECRET_HINT = 'It signs the deliveries. Keep it now: it is not shown again.';

/** The account's webhooks, and a form to create one. */
export const showWebhooks: View = async (main, { query }) => {
  const webhooks = await get<Page<Webhook>>(withQuery('/v1/webhooks', query));
  const list = h('div', {}, listOf(webhooks, query));
  const made = h('div', { 'aria-live': 'polite' });
  const submit = async (given: FormData) => {
    const webhook = await send<WebhookWithSecret>('POST', '/v1/webhooks', readWebhook(given));
    const link = h('p', {}, h('a', { href: `#/webhooks/${webhook.id}` }, 'To the webhook'));
    fill(made, secretBox('The secret of the new webhook', webhook.secret, SECRET_HINT), link);
    create.replaceWith();
    fill(list, listOf(await get<Page<Webhook>>('/v1/webhooks'), {}));
    made.scrollIntoView({ block: 'nearest' });
  };
  const create = h(
    'section',
    { class: 'card' },
    h('h2', {}, 'New webhook'),
    form('New webhook', webhookFields(), 'Create', submit),
  );
  fill(main, h('h1', {}, 'Webhooks'), list, made, create);
};

/** The form fields of a webhook. @param webhook  the values to start with */
export function webhookFields(webhook?: Webhook): Child[] {
  const isChosen = (type: string) => webhook?.events.some((event) => event === type) ?? type !== 'webhook.test';
  const check = (type: string) =>
    h(
      'label',
      { class: 'check' },
      h('input', { type: 'checkbox', name: 'events', value: type, checked: isChosen(type) }),
      type,
    );
  return [
    field(
      'URL',
      h('input', {
        name: 'url',
        type: 'url',
        required: true,
        maxlength: 2048,
        value: webhook?.url ?? '',
        placeholder: 'https://hooks.example.com/verbatim',
      }),
      'https, port 443, a public address.',
    ),
    h('fieldset', {}, h('legend', {}, 'Events'), EVENT_TYPES.map(check)),
    field('Description', h('input', { name: 'description', maxlength: 500, value: webhook?.description ?? '' })),
  ];
}

export function readWebhook(given: FormData) {
  const description = String(given.get('description') ?? '').trim();
  return { url: String(given.get('url')).trim(), events: given.getAll('events'), description: description || null };
}

export function stateOf(webhook: Webhook): Child {
  if (webhook.active)
    return [badge('active'), webhook.consecutive_failures > 0 && ` ${webhook.consecutive_failures} failed in a row`];
  return [badge('disabled'), webhook.disabled_reason === 'manual' ? ' by you' : ' after too many failures'];
}

function listOf(webhooks: Page<Webhook>, query: Record<string, string>): Child {
  if (webhooks.data.length === 0) return nothing('No webhooks yet. Create one below to be notified when a job ends.');
  const rows = webhooks.data.map((webhook) => [
    h('a', { href: `#/webhooks/${webhook.id}` }, webhook.url),
    stateOf(webhook),
    webhook.events.join(', '),
    webhook.description ?? '',
    time(webhook.created_at),
  ]);
  return [
    table('Webhooks', ['URL', 'State', 'Events', 'Description', 'Created'], rows),
    pager('#/webhooks', query, webhooks.next_cursor),
  ];
}
