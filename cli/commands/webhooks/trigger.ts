import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { EventType } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { CommandError, EXIT, UsageError } from '../../exit.ts';
import { typed } from '../../typed.ts';
import { sendLocally } from './local-send.ts';

type Change = { path: string[]; value: unknown };
type TriggerOptions = { webhook?: string; to?: string; set?: Change[]; secret?: string };

const examples = (command: string) => `
Examples:
  ${command} trigger transcription.completed --webhook wh_…
  ${command} trigger transcription.failed --to localhost:3000/hooks --set data.job.error.type=engine_error
`;

/** `verbatim trigger` */
export function define(command: Command, io: Io): void {
  command
    .argument('<type>', 'the event type, such as transcription.completed')
    .option('--webhook <webhook>', 'let the service send it to this webhook; without it, to the only one')
    .option('--to <target>', 'send it from this machine: a URL, or HOST:PORT/PATH')
    .option(
      '--set <path=value>',
      'with --to: change a field of the example, such as data.job.text=hi; repeatable',
      change,
    )
    .option('--secret <file>', 'with --to: sign with the secret in this file, instead of that of verbatim listen')
    .addHelpText('after', examples(typed(io.env)))
    .action(action<[string], TriggerOptions>(io, trigger));
}

async function trigger(session: Session, options: TriggerOptions, type: string): Promise<void> {
  const { to, webhook, set: changes = [], secret } = options;
  if (to !== undefined && webhook !== undefined) throw new UsageError('Use either --to or --webhook.');
  if (to === undefined && (changes.length > 0 || secret !== undefined)) {
    throw new UsageError('--set and --secret need --to: the service sends its examples as they are.');
  }
  const client = await session.client();
  if (to === undefined) {
    const sent = await client.webhooks.test(webhook ?? (await onlyWebhook(session)), { type: type as EventType });
    const line = `${sent.event_id}  ${sent.type}`;
    return session.out.show({ json: session.answer(), ids: [sent.event_id], lines: [[line]] });
  }
  const found = (await client.events.types()).find((one) => one.type === type);
  if (!found) throw new CommandError(`There is no event type "${type}".`, EXIT.notFound);
  const id = `evt_local_${randomBytes(10).toString('hex')}`;
  const event = { ...structuredClone(found.example), id, created_at: new Date().toISOString() };
  for (const one of changes) setField(event, one);
  await sendLocally(session, { id, type, body: JSON.stringify(event) }, { to, secret });
}

async function onlyWebhook(session: Session): Promise<string> {
  const webhooks = await (await session.client()).webhooks.list({ limit: 2 }).toArray({ limit: 2 });
  if (webhooks.length === 1) return webhooks[0]!.id;
  const count = webhooks.length === 0 ? 'no webhook' : 'several webhooks';
  throw new UsageError(`The account has ${count}: name one with --webhook, or a target with --to.`);
}

/** `data.job.text=hi`; the value is JSON, or else text. */
function change(text: string, before: Change[] = []): Change[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form path=value.');
  const [path, word] = [text.slice(0, at).split('.'), text.slice(at + 1)];
  if (path.some((name) => name === '' || name === '__proto__'))
    throw new InvalidArgumentError('This is no path of a field.');
  return [...before, { path, value: readValue(word) }];
}

function readValue(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** @throws UsageError  if the path leads through something else than an object or array */
function setField(event: object, { path, value }: Change): void {
  let place = event as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    const next = Object.hasOwn(place, name) ? place[name] : (place[name] = {});
    if (typeof next !== 'object' || next === null)
      throw new UsageError(`--set ${path.join('.')}: "${name}" has no fields.`);
    place = next as Record<string, unknown>;
  }
  place[path.at(-1)!] = value;
}
