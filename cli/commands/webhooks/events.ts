import type { Command } from 'commander';
import type { EventType, EventWithDeliveries } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { facts, state } from '../../terminal/format.ts';
import { sendLocally } from './local-send.ts';

type ListFilter = ListOptions & { type?: EventType; job?: string };
type ResendOptions = { webhook?: string; to?: string; secret?: string };

/** `verbatim events` */
export function define(command: Command, io: Io): void {
  const list = command
    .command('list')
    .description('events, newest first')
    .option('--type <type>', 'of this type')
    .option('--job <job>', 'of this job');
  addWebOption(addListOptions(list), () => 'events').action(action<[], ListFilter>(io, listEvents));
  addWebOption(command.command('get'), (id: string) => `events/${id}`)
    .description('an event with its body and its deliveries')
    .argument('<event>')
    .action(action<[string]>(io, getEvent));
  command
    .command('resend')
    .description('send an event again: by the service to a webhook, or from this machine to a target')
    .argument('<event>')
    .option('--webhook <webhook>', 'to this webhook')
    .option('--to <target>', 'from this machine: a URL, or HOST:PORT/PATH')
    .option('--secret <file>', 'with --to: sign with the secret in this file, instead of that of verbatim listen')
    .action(action<[string], ResendOptions>(io, resend));
}

async function listEvents(session: Session, options: ListFilter): Promise<void> {
  const client = await session.client();
  const filter = { ...pageOf(options), type: options.type, job_id: options.job };
  await showList(session, options, client.events.list(filter), {
    head: ['event', 'type', 'created', 'job'],
    row: ({ id, type, created_at, job_id }) => [id, type, created_at, job_id ?? '-'],
    id: ({ id }) => id,
    empty: 'No events.',
  });
}

async function getEvent(session: Session, _options: object, id: string): Promise<void> {
  const { out } = session;
  const client = await session.client();
  const event = await client.events.get(id);
  const lines = facts([
    ['event', event.id],
    ['type', event.type],
    ['job', event.job_id],
    ['created', event.created_at],
  ]);
  out.show({ json: session.answer(), ids: [event.id], lines });
  if (out.mode !== 'text') return;
  for (const { id: deliveryId, status, attempt, webhook_id, url } of event.deliveries) {
    out.line('delivery  ', state(status), `  attempt ${attempt}  ${deliveryId}  ${webhook_id}  ${url ?? ''}`);
  }
  out.block(`\n${JSON.stringify((session.answer() as EventWithDeliveries).payload, null, 2)}`);
}

async function resend(session: Session, { webhook, to, secret }: ResendOptions, id: string): Promise<void> {
  if ((webhook === undefined) === (to === undefined))
    throw new UsageError('Name a webhook with --webhook, or a target with --to.');
  const client = await session.client();
  if (webhook !== undefined) {
    const sent = await client.events.resend(id, webhook);
    return session.out.show({ json: session.answer(), ids: [sent.event_id], lines: [[`${id} is sent to ${webhook}`]] });
  }
  const event = await client.events.get(id);
  const exact = session.answer() as EventWithDeliveries;
  const body = (await sentBody(session, event)) ?? JSON.stringify(exact.payload);
  await sendLocally(session, { id, type: event.type, body }, { to: to!, secret });
}

/** The bytes that a webhook was sent; null if the event was not sent yet. */
async function sentBody(session: Session, { deliveries }: EventWithDeliveries): Promise<string | null> {
  const sent = deliveries.find(({ completed_at }) => completed_at !== null);
  if (!sent) return null;
  const { request } = await (await session.client()).webhooks.delivery(sent.webhook_id, sent.id);
  return request?.body ?? null;
}
