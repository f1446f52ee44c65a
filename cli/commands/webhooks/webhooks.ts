import type { Command } from 'commander';
import type { EventType, Webhook } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { changeEach } from '../../each-id.ts';
import { UsageError } from '../../exit.ts';
import { addListOptions, type ListOptions, pageOf, showList } from '../../list.ts';
import { commaList, number, readJson, readTextFile, wholeNumber } from '../../options.ts';
import { addWebOption } from '../../terminal/browser.ts';
import { facts, state } from '../../terminal/format.ts';
import type { Part } from '../../terminal/part.ts';
import { typed } from '../../typed.ts';
import { defineDeliveries } from './deliveries.ts';

type Changes = {
  url?: string;
  events?: EventType[];
  description?: string;
  maxPerSecond?: number;
  headersFile?: string;
  enable?: boolean;
  disable?: boolean;
};

const DEFAULT_EVENTS: EventType[] = ['transcription.completed', 'transcription.failed'];

/** `verbatim webhooks` */
export function define(command: Command, io: Io): void {
  addWebOption(addListOptions(command.command('list').description('webhooks, newest first')), () => 'webhooks').action(
    action<[], ListOptions>(io, listWebhooks),
  );
  addWebOption(command.command('get'), (id: string) => `webhooks/${id}`)
    .description('a webhook')
    .argument('<webhook>')
    .action(
      action<[string]>(io, async (session, _options, id) => {
        const client = await session.client();
        show(session, await client.webhooks.get(id));
      }),
    );
  addChangeOptions(
    command.command('create').description('a new webhook; its secret is shown only now').argument('<url>'),
  )
    .option('--events <types>', 'event types, separated by commas', commaList, DEFAULT_EVENTS)
    .action(action<[string], Changes & { events: EventType[] }>(io, createWebhook));
  addChangeOptions(command.command('update').description('change a webhook').argument('<webhook>'))
    .option('--url <url>', 'another URL')
    .option('--events <types>', 'event types, separated by commas', commaList)
    .option('--enable', 'send deliveries again')
    .option('--disable', 'send no deliveries')
    .action(action<[string], Changes>(io, updateWebhook));
  command
    .command('delete')
    .description('delete webhooks')
    .argument('<webhooks...>')
    .action(action<[string[]]>(io, deleteWebhooks));
  command
    .command('test')
    .description('send a test, or the example of a type')
    .argument('<webhook>')
    .option('--type <type>', 'the type of the example')
    .action(action<[string], { type?: EventType }>(io, testWebhook));
  command
    .command('rotate')
    .description('a new secret; it is shown only now')
    .argument('<webhook>')
    .option('--overlap <seconds>', 'how long the old secret also signs, up to 86400', wholeNumber)
    .action(action<[string], { overlap?: number }>(io, rotateSecret));
  defineDeliveries(command, io);
}

function addChangeOptions(command: Command): Command {
  return command
    .option('--description <text>')
    .option('--max-per-second <number>', 'deliveries that start in a second, 1 to 1000', number)
    .option('--headers-file <file>', 'custom headers of the deliveries: a JSON object');
}

async function listWebhooks(session: Session, options: ListOptions): Promise<void> {
  const client = await session.client();
  await showList(session, options, client.webhooks.list(pageOf(options)), {
    head: ['webhook', 'state', 'failures', 'events', 'url'],
    row: (webhook) => [
      webhook.id,
      stateOf(webhook),
      `${webhook.consecutive_failures}`,
      webhook.events.join(','),
      webhook.url,
    ],
    id: ({ id }) => id,
    empty: `No webhooks. Make one with: ${typed(session.io.env, 'webhooks create https://…')}`,
  });
}

async function createWebhook(
  session: Session,
  { events, ...options }: Changes & { events: EventType[] },
  url: string,
): Promise<void> {
  const client = await session.client();
  const webhook = await client.webhooks.create({ ...readChanges(options), url, events });
  show(session, webhook, [['secret', webhook.secret]]);
  session.out.note('Keep the secret now: it is not shown again.');
}

async function updateWebhook(session: Session, options: Changes, id: string): Promise<void> {
  const changes = readChanges(options);
  if (Object.values(changes).every((value) => value === undefined))
    throw new UsageError('Say what to change, such as --url or --enable.');
  const client = await session.client();
  show(session, await client.webhooks.update(id, changes));
}

function readChanges({ url, events, description, maxPerSecond, headersFile, enable, disable }: Changes) {
  const headers = headersFile === undefined ? undefined : readJson(readTextFile(headersFile), headersFile);
  return {
    url,
    events,
    description,
    max_per_second: maxPerSecond,
    headers: headers as Record<string, string> | undefined,
    active: enable || disable ? enable === true : undefined,
  };
}

async function deleteWebhooks(session: Session, _options: object, ids: string[]): Promise<void> {
  const { webhooks } = await session.client();
  await changeEach(session, ids, 'is deleted', (id) => webhooks.delete(id));
}

async function testWebhook(session: Session, { type }: { type?: EventType }, id: string): Promise<void> {
  const client = await session.client();
  const sent = await client.webhooks.test(id, { type });
  session.out.show({ json: session.answer(), ids: [sent.event_id], lines: [[`${sent.event_id}  ${sent.type}`]] });
}

async function rotateSecret(session: Session, { overlap }: { overlap?: number }, id: string): Promise<void> {
  const client = await session.client();
  const webhook = await client.webhooks.rotateSecret(id, { overlap_seconds: overlap });
  show(session, webhook, [['secret', webhook.secret]]);
  session.out.note('Keep the secret now: it is not shown again.');
}

function show({ out, answer }: Session, webhook: Webhook, more: [string, string][] = []): void {
  const entries: [string, Part | number | null][] = [
    ['webhook', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['state', stateOf(webhook)],
    ['reason', webhook.disabled_reason],
    ['description', webhook.description],
    ['headers', webhook.headers.join(', ')],
    ['a second', webhook.max_per_second],
    ['failures', webhook.consecutive_failures],
    ['failing since', webhook.failing_since],
    ['created', webhook.created_at],
    ...more,
  ];
  out.show({ json: answer(), ids: [webhook.id], lines: facts(entries) });
}

function stateOf({ active, consecutive_failures }: Webhook): Part {
  if (!active) return state('disabled');
  return consecutive_failures > 0 ? { text: 'failing', style: 'yellow' } : state('active');
}
