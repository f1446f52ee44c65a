import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { type Framework, isOtherBody } from '#sdk/webhooks/explain/frameworks.ts';
import { RAW_BODY_EXAMPLES } from '#sdk/webhooks/explain/raw-body-examples.ts';
import {
  explainSignature,
  FRAMEWORKS,
  type HttpRequest,
  type KnownSecret,
  readHttpRequest,
  type SignatureExplanation,
  signBody,
  standardSignature,
  TOLERANCE_SECONDS,
  verifyDelivery,
  WebhookVerificationError,
} from '#sdk/webhooks/index.ts';
import type { SignatureDiagnosis } from '#sdk/wire.ts';
import { action, type Io, type Session } from '../../command.ts';
import { CommandError, UsageError } from '../../exit.ts';
import { readTextFile, time, wholeNumber } from '../../options.ts';
import { state } from '../../terminal/format.ts';

type Common = { secret?: string; headerPrefix: string };
type SignOptions = Common & { timestamp?: string; eventId?: string };
type VerifyOptions = Common & { at?: string; tolerance: number };
type ExplainOptions = Common & { at?: string; webhook?: string; framework?: Framework };

const VARIABLE = 'VERBATIM_WEBHOOK_SECRET';
const REQUEST_HELP = `
The request is read from a file or standard input as it was received: header fields, an empty line, the body.

  POST /hooks HTTP/1.1
  X-Service-Signature: 5d41…
  X-Service-Timestamp: 2026-11-21T09:30:05.250Z

  {"id":"evt_…

The secret comes from a file or from ${VARIABLE}, never from the arguments, which other users can see.
`;

/** `verbatim signature` */
export function define(command: Command, io: Io): void {
  addCommon(
    command
      .command('sign')
      .description('the headers of a delivery with this body')
      .argument('[body]', 'a file; without it, standard input'),
  )
    .option('--timestamp <time>', 'signed at this time; without it, now', time)
    .option('--event-id <id>', 'also sign by the Standard Webhooks specification')
    .action(action<[string | undefined], SignOptions>(io, sign));
  addCommon(
    command
      .command('verify')
      .description('whether a delivery is genuine: exit code 0 or 1')
      .argument('[request]', 'a file; without it, standard input'),
  )
    .option('--at <time>', 'received at this time; without it, now', time)
    .option('--tolerance <seconds>', 'largest age', wholeNumber, TOLERANCE_SECONDS)
    .addHelpText('after', REQUEST_HELP)
    .action(action<[string | undefined], VerifyOptions>(io, verify));
  addCommon(
    command
      .command('explain')
      .description('why a delivery does not verify, and what to do')
      .argument('[request]', 'a file; without it, standard input'),
  )
    .option('--at <time>', 'received at this time; without it, the age is not checked', time)
    .option('--webhook <webhook>', 'ask the service, which has the secrets and what it has sent')
    .addOption(
      new Option(
        '--framework <name>',
        'show how the raw body is read there; without it, as the headers name it',
      ).choices(Object.keys(FRAMEWORKS)),
    )
    .addHelpText('after', REQUEST_HELP)
    .action(action<[string | undefined], ExplainOptions>(io, explain));
}

function addCommon(command: Command): Command {
  return command
    .option('--secret <file>', `the secret of the webhook, or several, one per line; or set ${VARIABLE}`)
    .option('--header-prefix <prefix>', 'of the headers', 'X-Service-');
}

async function sign({ io, out }: Session, options: SignOptions, file: string | undefined): Promise<void> {
  const [secret] = readSecrets(io, options);
  const body = await readBytes(io, file);
  const timestamp = options.timestamp ?? new Date().toISOString();
  const signature = signBody({ secret: secret!, timestamp, body });
  const { headerPrefix: prefix, eventId: id } = options;
  const timestampSeconds = Math.floor(Date.parse(timestamp) / 1000);
  const headers = {
    [`${prefix}Timestamp`]: timestamp,
    [`${prefix}Signature`]: signature,
    ...(id !== undefined && {
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': standardSignature({ secret: secret!, id, timestampSeconds, body }),
    }),
  };
  const lines = Object.entries(headers).map(([name, value]) => [`${name}: ${value}`]);
  out.show({ json: headers, ids: [signature], lines });
}

async function verify({ io, out }: Session, options: VerifyOptions, file: string | undefined): Promise<void> {
  const { headers, body } = readRequest(await readBytes(io, file));
  const { at, tolerance: toleranceSeconds, headerPrefix } = options;
  const now = at === undefined ? Date.now() : Date.parse(at);
  try {
    const event = verifyDelivery({
      secret: readSecrets(io, options),
      headers,
      body,
      now,
      toleranceSeconds,
      headerPrefix,
    });
    out.show({ json: event, ids: [event.id], lines: [[state('ok'), `  ${event.id}  ${event.type}`]] });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    throw new CommandError(`${error.code}: ${error.message}`, undefined, { cause: error });
  }
}

async function explain(session: Session, options: ExplainOptions, file: string | undefined): Promise<void> {
  const { io, out } = session;
  const { headers, body } = readRequest(await readBytes(io, file));
  const { webhook, at, headerPrefix, framework } = options;
  let explanation: SignatureExplanation | SignatureDiagnosis;
  if (webhook === undefined) {
    const secret = readSecrets(io, options).map((one): KnownSecret => ({ secret: one, of: 'this_webhook' }));
    const receivedAt = at === undefined ? null : Date.parse(at);
    explanation = explainSignature({ secret, headers, body, receivedAt, headerPrefix, framework });
  } else {
    const question = { headers, body: new TextDecoder().decode(body), received_at: at, framework };
    explanation = await (await session.client()).webhooks.diagnose(webhook, question);
  }
  const { verdict, fix, checks, causes } = explanation;
  const lines = [
    [state(verdict === 'genuine' ? 'ok' : 'fail'), `  ${causes.join(', ') || verdict}`],
    ...checks.map(({ name, result, message }) => [`  ${name.padEnd(10)}`, state(result), `  ${message}`]),
    ...describeDifference(explanation.difference),
    [`  ${fix}`],
  ];
  out.show({ json: explanation, ids: [verdict], lines });
  if (out.mode === 'text' && explanation.framework !== null && isOtherBody(verdict)) {
    out.block(`\n${RAW_BODY_EXAMPLES[explanation.framework].code}`);
  }
  if (verdict !== 'genuine') throw new CommandError('');
}

function describeDifference(
  difference: SignatureDiagnosis['difference'] | SignatureExplanation['difference'],
): string[][] {
  if (difference === null) return [];
  return [
    [`  sent:     ${JSON.stringify(difference.sent)}, at byte ${difference.at}`],
    [`  received: ${JSON.stringify(difference.received)}`],
  ];
}

function readSecrets({ env }: Io, { secret: file }: Common): string[] {
  if (file?.startsWith('whsec_')) throw new UsageError('Other users can see arguments: pass the secret in a file.');
  const text = file === undefined ? (env[VARIABLE] ?? '') : readTextFile(file);
  const secrets = text.split('\n').filter((line) => line.trim() !== '');
  if (secrets.length === 0) throw new UsageError(`No secret: give --secret, or set ${VARIABLE}.`);
  // Spaces are kept: they may be the mistake that is looked for.
  return secrets.map((line) => line.replace(/\r$/, ''));
}

/** @throws UsageError */
function readRequest(bytes: Buffer): HttpRequest {
  const request = readHttpRequest(bytes);
  if (!request) throw new UsageError('This is not a request. Pass it as received: headers, an empty line, the body.');
  return request;
}

async function readBytes({ stdin }: Io, file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== '-') {
    return await readFile(file).catch((cause: Error) => {
      throw new CommandError(`${file} cannot be read: ${cause.message}`, undefined, { cause });
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
