import { type Command, Option } from 'commander';
import type { Delivery, GetDeliveriesQuery, Recovered } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { time, wholeNumber } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { facts, state } from '../../terminal/format.ts';

type Filter = ListOptions & {
  status?: Delivery['status'];
  type?: Delivery['event_type'];
  event?: string;
  reason?: GetDeliveriesQuery['reason'];
  statusClass?: GetDeliveriesQuery['status_class'];
  attempt?: number;
  after?: string;
  before?: string;
};
type Span = { since: string; until?: string; type?: Delivery['event_type']; dryRun?: boolean };

const MAX_DELIVERIES = 100;

/** The subcommands of `verbatim webhooks` about deliveries. */
export function defineDeliveries(command: Command, io: Io): void {
  const deliveries = command
    .command('deliveries')
    .description('the delivery log of a webhook, newest first')
    .argument('<webhook>')
    .addOption(new Option('--status <status>').choices(['succeeded', 'failed', 'pending', 'dropped']))
    .option('--type <type>', 'of this event type')
    .option('--event <event>', 'of this event')
    .option('--reason <reason>', 'failed for this reason, such as timeout')
    .addOption(new Option('--status-class <class>', 'with such an answer').choices(['2xx', '3xx', '4xx', '5xx']))
    .option('--attempt <number>', 'this attempt, 1 to 4', wholeNumber)
    .option('--after <time>', 'created after this time: 2026-11-21, 1h, 7d …', time)
    .option('--before <time>', 'created before this time', time);
  addWebOption(addListOptions(deliveries), (id: string) => `webhooks/${id}`).action(
    action<[string], Filter>(io, listDeliveries),
  );
  addWebOption(command.command('delivery'), (webhook: string, id: string) => `webhooks/${webhook}/deliveries/${id}`)
    .description('one attempt with its request and answer')
    .argument('<webhook>')
    .argument('<delivery>')
    .action(action<[string, string]>(io, getDelivery));
  command
    .command('redeliver')
    .description('send the events of these deliveries again, up to 100')
    .argument('<webhook>')
    .argument('<deliveries...>')
    .action(action<[string, string[]]>(io, redeliver));
  command
    .command('recover')
    .description('send again every event that the webhook has not accepted')
    .argument('<webhook>')
    .requiredOption('--since <time>', 'of events since this time: 2026-11-21, 1h, 7d …', time)
    .option('--until <time>', 'of events until this time', time)
    .option('--type <type>', 'of this event type')
    .option('--dry-run', 'only count them')
    .action(action<[string], Span>(io, recover));
}

async function listDeliveries(session: Session, filter: Filter, webhookId: string): Promise<void> {
  const client = await session.client();
  const query = {
    ...pageOf(filter),
    status: filter.status,
    event_type: filter.type,
    event_id: filter.event,
    reason: filter.reason,
    status_class: filter.statusClass,
    attempt: filter.attempt,
    after: filter.after,
    before: filter.before,
  };
  await showList(session, filter, client.webhooks.deliveries(webhookId, query), {
    head: ['delivery', 'status', 'attempt', 'answer', 'took', 'type', 'event', 'created'],
    row: (delivery) => [
      delivery.id,
      state(delivery.status),
      `${delivery.attempt}`,
      delivery.error && delivery.response_status === null
        ? delivery.error.reason
        : `${delivery.response_status ?? '-'}`,
      delivery.duration_ms === null ? '-' : `${Math.round(delivery.duration_ms)} ms`,
      delivery.event_type,
      delivery.event_id,
      delivery.created_at,
    ],
    id: ({ id }) => id,
    empty: 'No deliveries.',
  });
}

async function getDelivery(session: Session, _options: object, webhookId: string, id: string): Promise<void> {
  const { out } = session;
  const client = await session.client();
  const delivery = await client.webhooks.delivery(webhookId, id);
  const { request, response, error } = delivery;
  const lines = facts([
    ['delivery', delivery.id],
    ['event', `${delivery.event_id} (${delivery.event_type})`],
    ['url', delivery.url],
    ['status', state(delivery.status)],
    ['attempt', delivery.attempt],
    ['error', error && `${error.reason}: ${error.message}`],
    ['answer', delivery.response_status],
    ['took', delivery.duration_ms === null ? null : `${Math.round(delivery.duration_ms)} ms`],
    ['phases', phasesOf(delivery)],
    ['from', delivery.remote_address],
    ['created', delivery.created_at],
    ['next attempt', delivery.next_attempt_at],
  ]);
  out.show({ json: session.answer(), ids: [delivery.id], lines });
  if (out.mode !== 'text') return;
  for (const [title, message] of [['request', request] as const, ['answer', response] as const]) {
    if (message === null) continue;
    out.line();
    out.line({ text: title, style: 'bold' });
    for (const [name, value] of Object.entries(message.headers)) out.line(`${name}: ${String(value)}`);
    if (message.body) out.block(`\n${message.body}`);
  }
}

/**
 * Such as `connect 3 ms, tls 9 ms, first byte 40 ms`; null where none came to its end.
 * @internal  a real attempt has timings that no test can choose
 */
export function phasesOf({ timings }: Pick<Delivery, 'timings'>): string | null {
  const { dns_ms, connect_ms, tls_ms, first_byte_ms, reused } = timings;
  const taken = Object.entries({ dns: dns_ms, connect: connect_ms, tls: tls_ms, 'first byte': first_byte_ms });
  const phases = taken.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${Math.round(ms)} ms`]));
  return [...(reused ? ['on the connection of an earlier attempt'] : []), ...phases].join(', ') || null;
}

async function redeliver(session: Session, _options: object, webhookId: string, ids: string[]): Promise<void> {
  if (ids.length > MAX_DELIVERIES) throw new UsageError(`At most ${MAX_DELIVERIES} deliveries at once.`);
  const client = await session.client();
  const answer = await client.webhooks.redeliverMany(webhookId, ids);
  session.out.show({ json: session.answer(), ids, lines: [[`${answer.events} events are sent again`]] });
}

async function recover(session: Session, span: Span, webhookId: string): Promise<void> {
  const { out } = session;
  const client = await session.client();
  const { until, type, dryRun } = span;
  const more = { until, event_type: type, dry_run: dryRun };
  let total = 0;
  // One request reads a limited number of events, and says where the next one begins.
  for (let since: string | undefined = span.since; since !== undefined; ) {
    const answer: Recovered = await client.webhooks.recover(webhookId, { since, ...more });
    total += answer.events;
    since = answer.next_since;
  }
  const verb = dryRun ? 'would be sent again' : 'are sent again';
  out.show({ json: { events: total }, ids: [], lines: [[`${total} events ${verb}`]] });
}
