import fs from 'node:fs';
import { type Command, Option } from 'commander';
import type { Verbatim } from '#sdk/client/index.ts';
import { findRunningService } from '../../../bin/running-service.js';
import { action, type Io, type Session } from '../../command.ts';
import { CommandError, EXIT, UsageError } from '../../exit.ts';
import { readTextFile } from '../../options.ts';
import { DEFAULT_URL, readUrl } from '../../profile/connection.ts';
import { DEFAULT_PROFILE, saveProfile } from '../../profile/profiles.ts';
import { ask } from '../../terminal/prompt.ts';
import { typed } from '../../typed.ts';
import { showWarnings } from '../jobs/job-view.ts';

type InitOptions = { apiKeyFile?: string; createAccount?: string; plan?: 'lite' | 'pro'; sample?: string };

/** `verbatim init` */
export function define(command: Command, io: Io): void {
  command
    .description('sign in: check URL and key, and write a profile; asks for what is not given')
    .option('--api-key-file <file>', 'the API key is in this file; - for standard input. Or set VERBATIM_API_KEY')
    .option('--create-account <name>', 'as the operator (ADMIN_TOKEN): make this account and a key of it')
    .addOption(new Option('--plan <plan>', 'of the new account').choices(['lite', 'pro']))
    .option('--sample <file>', 'then transcribe this file, which costs credits')
    .action(action<[], InitOptions>(io, init));
}

async function init(session: Session, options: InitOptions): Promise<void> {
  const { io, out, globals } = session;
  const url = readUrl(globals.url ?? (io.env['VERBATIM_URL'] || (await askUrl(session, options))));
  const apiKey =
    options.createAccount === undefined ? await readKey(session, options) : await makeKey(session, url, options);
  const { Verbatim } = await import('#sdk/client/index.ts');
  const client = new Verbatim({ baseUrl: url, apiKey, signal: io.signal });
  const account = await client.account();
  const name = globals.profile ?? DEFAULT_PROFILE;
  const file = saveProfile(io.env, name, { url, api_key: apiKey });
  out.show({
    json: { profile: name, url, account },
    ids: [account.id],
    lines: [[`You are ${account.name} (${account.plan}) at ${url}`]],
  });
  out.note({ text: `Profile "${name}" is in ${file}`, style: 'dim' });
  if (options.sample !== undefined) await transcribeSample(session, client, options.sample);
  else out.note({ text: `Next: ${typed(io.env, 'transcribe <file>')}`, style: 'dim' });
}

async function askUrl({ io }: Session, { createAccount, apiKeyFile }: InitOptions): Promise<string> {
  const usual = findRunningService(io.env)?.url.replace(/\/$/, '') ?? DEFAULT_URL;
  // With the key given, the command is run by a program: it gets the default.
  if (!io.stdin.isTTY && (createAccount ?? apiKeyFile ?? io.env['VERBATIM_API_KEY']) !== undefined) return usual;
  return (await ask(io, `URL of the service [${usual}]: `, { flag: '--url' })) || usual;
}

async function readKey({ io }: Session, { apiKeyFile }: InitOptions): Promise<string> {
  const flag = '--api-key-file, or set VERBATIM_API_KEY';
  const given =
    apiKeyFile === '-'
      ? await readStdin(io)
      : apiKeyFile === undefined
        ? io.env['VERBATIM_API_KEY'] || (await ask(io, 'API key (not shown): ', { flag, isSecret: true }))
        : readTextFile(apiKeyFile);
  const key = given.trim();
  if (key === '') throw new UsageError(`There is no API key: give ${flag}.`);
  return key;
}

async function readStdin({ stdin }: Io): Promise<string> {
  let text = '';
  for await (const chunk of stdin) text += chunk;
  return text;
}

async function makeKey(session: Session, url: string, { createAccount, plan = 'lite' }: InitOptions): Promise<string> {
  const { accounts } = await session.admin(url);
  const account = await accounts.create({ name: createAccount!, plan });
  const { key } = await accounts.createKey(account.id, { name: 'verbatim init' });
  session.out.note(`Account ${account.id} is created`);
  return key;
}

async function transcribeSample({ out }: Session, client: Verbatim, file: string): Promise<void> {
  if (!fs.existsSync(file)) throw new CommandError(`There is no file ${file}`, EXIT.notFound);
  const job = await client.transcribe({ path: file });
  out.note({ text: `${job.id}: `, style: 'dim' }, job.text);
  showWarnings(out, job, job.id);
}
