import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { dataPaths, SETTINGS } from '../config/settings.ts';
import { runModels } from '../models/commands.ts';
import { ModelError } from '../models/model.ts';

const USAGE = `usage: verbatim accounts create <name> [--plan lite|pro] [--credits <number>]
       verbatim accounts list
       verbatim accounts show <account id>
       verbatim accounts credit <account id> <amount> [--note <text>]
       verbatim keys create <account id> [--name <text>] [--scopes <scope,…>] [--expires-at <time>]
       verbatim keys list <account id>
       verbatim keys revoke <key id>
       verbatim audit list [--account <account id>]
       verbatim secrets rotate
       verbatim models list | pull <name> | remove <name>

Talks to the service at VERBATIM_URL (default ADMIN_HOST:ADMIN_PORT, else http://127.0.0.1:8080) with ADMIN_TOKEN, or with the token that the
service keeps in DATA_DIR/admin-token. --json prints the service's answer as it is.
`;

const OPTIONS = {
  plan: { type: 'string' },
  credits: { type: 'string' },
  note: { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  'expires-at': { type: 'string' },
  account: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MAX_PAGES = 1_000;
const TIMEOUT_MS = 15_000;

/** A mistake of the operator; the message is printed. */
export class CommandError extends Error {}

type Service = { url: string; token: string };
type Values = ReturnType<typeof read>['values'];
type Result = { answer: unknown; lines: string[] };
type Account = { id: string; name: string; plan: string; balance: { amount: number | null; held: number } };
type Key = {
  id: string;
  name: string | null;
  prefix: string;
  key?: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
};
type AuditEntry = {
  created_at: string;
  actor: { type: string; key_id: string | null };
  address: string;
  action: string;
  target_id: string;
  details: object;
};
type Command = {
  options: (keyof Values)[];
  words: number;
  run(service: Service, words: string[], values: Values): Promise<Result>;
};

const COMMANDS: Record<string, Command> = {
  'accounts create': { options: ['plan', 'credits'], words: 1, run: createAccount },
  'accounts list': { options: [], words: 0, run: listAccounts },
  'accounts show': { options: [], words: 1, run: showAccount },
  'accounts credit': { options: ['note'], words: 2, run: creditAccount },
  'keys create': { options: ['name', 'scopes', 'expires-at'], words: 1, run: createKey },
  'keys list': { options: [], words: 1, run: listKeys },
  'audit list': { options: ['account'], words: 0, run: listAudit },
  'secrets rotate': { options: [], words: 0, run: rotateSecrets },
  'keys revoke': { options: [], words: 1, run: revokeKey },
};

/**
 * Runs one command against a running service; resolves to the text to print.
 * @param args  the words after `verbatim`
 * @param env   with VERBATIM_URL, ADMIN_TOKEN and DATA_DIR
 * @throws CommandError  with a sentence that says what to do
 */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { values, positionals } = read(args);
  if (values.help || positionals.length === 0) return USAGE;
  const [noun, verb, ...words] = positionals;
  const name = `${noun} ${verb ?? ''}`.trim();
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name]! : null;
  if (!command) throw new CommandError(`There is no command "${name}".\n\n${USAGE}`);
  const stray = Object.keys(values).find(
    (option) => option !== 'json' && !command.options.includes(option as keyof Values),
  );
  if (stray) throw new CommandError(`"${name}" has no option --${stray}.\n\n${USAGE}`);
  if (words.length !== command.words) throw new CommandError(`"${name}" takes ${command.words} words.\n\n${USAGE}`);
  const { answer, lines } = await command.run(findService(env), words, values);
  return values.json ? `${JSON.stringify(answer, null, 2)}\n` : lines.map((line) => `${line}\n`).join('');
}

function read(args: string[]) {
  try {
    // A negative amount is an argument, not an option.
    const isAmount = (word: string) => /^-[\d.]+$/.test(word);
    const marked = args.map((word) => (isAmount(word) ? `amount:${word}` : word));
    const { values, positionals } = parseArgs({ args: marked, options: OPTIONS, allowPositionals: true });
    return { values, positionals: positionals.map((word) => word.replace(/^amount:/, '')) };
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function findService(env: NodeJS.ProcessEnv): Service {
  const admin = env['ADMIN_PORT'] ? `http://${env['ADMIN_HOST'] || '127.0.0.1'}:${env['ADMIN_PORT']}` : null;
  const url = (env['VERBATIM_URL'] || admin || 'http://127.0.0.1:8080').replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new CommandError('VERBATIM_URL must be a URL such as http://127.0.0.1:8080.');
  return { url, token: env['ADMIN_TOKEN'] || readToken(env['DATA_DIR'] || './data') };
}

function readToken(dataDir: string): string {
  const file = dataPaths(dataDir).adminToken;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new CommandError(`There is no readable ${file}: set ADMIN_TOKEN, or DATA_DIR to that of the service.`);
  }
}

async function createAccount(service: Service, [name]: string[], { plan = 'lite', credits }: Values): Promise<Result> {
  const body = { name, plan, ...(credits !== undefined && { credits: readNumber(credits, '--credits') }) };
  const account = await request<Account>(service, 'POST', '/admin/v1/accounts', body);
  return { answer: account, lines: [describeAccount(account), `next: verbatim keys create ${account.id}`] };
}

async function listAccounts(service: Service): Promise<Result> {
  const accounts = await fetchAll<Account>(service, '/admin/v1/accounts');
  return { answer: accounts, lines: accounts.length > 0 ? accounts.map(describeAccount) : ['no accounts yet'] };
}

async function showAccount(service: Service, [id]: string[]): Promise<Result> {
  const account = await request<Account>(service, 'GET', `/admin/v1/accounts/${encodeURIComponent(id!)}`);
  return { answer: account, lines: [describeAccount(account)] };
}

async function creditAccount(service: Service, [id, amount]: string[], { note }: Values): Promise<Result> {
  const path = `/admin/v1/accounts/${encodeURIComponent(id!)}/credits`;
  const entry = await request<{ id: string; amount: number }>(service, 'POST', path, {
    amount: readNumber(amount!, 'the amount'),
    ...(note !== undefined && { note }),
  });
  return { answer: entry, lines: [`${entry.id}  ${entry.amount} credits`] };
}

async function createKey(service: Service, [id]: string[], values: Values): Promise<Result> {
  const { name, scopes, 'expires-at': expiresAt } = values;
  const path = `/admin/v1/accounts/${encodeURIComponent(id!)}/keys`;
  const key = await request<Key>(service, 'POST', path, {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: scopes.split(',').map((scope) => scope.trim()) }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  });
  return { answer: key, lines: [`${key.id}  ${key.key}`, 'Keep it now: it is not shown again.'] };
}

async function listKeys(service: Service, [id]: string[]): Promise<Result> {
  const keys = await fetchAll<Key>(service, `/admin/v1/accounts/${encodeURIComponent(id!)}/keys`);
  return { answer: keys, lines: keys.length > 0 ? keys.map(describeKey) : ['no keys'] };
}

function describeKey({ id, prefix, scopes, created_at, expires_at, last_used_at, name }: Key): string {
  const facts = [
    scopes.join(',') || 'all scopes',
    `made ${created_at}`,
    ...(expires_at === null ? [] : [`expires ${expires_at}`]),
    last_used_at === null ? 'never used' : `last used ${last_used_at}`,
    ...(name === null ? [] : [name]),
  ];
  return `${id}  ${prefix}…  ${facts.join('  ')}`;
}

async function revokeKey(service: Service, [id]: string[]): Promise<Result> {
  await request(service, 'DELETE', `/admin/v1/keys/${encodeURIComponent(id!)}`);
  return { answer: { id, revoked: true }, lines: [`${id} is revoked`] };
}

/** Encrypts all webhook secrets with the first key of SECRETS_KEY. It can be stopped and run again. */
async function rotateSecrets(service: Service): Promise<Result> {
  type Step = { rotated: number; unreadable: number; next_cursor: string | null; remaining: number | null };
  let total = { rotated: 0, unreadable: 0 };
  let step: Step = { rotated: 0, unreadable: 0, next_cursor: null, remaining: null };
  do {
    const body = step.next_cursor === null ? {} : { cursor: step.next_cursor };
    step = await request<Step>(service, 'POST', '/admin/v1/secrets/rotate', body);
    total = { rotated: total.rotated + step.rotated, unreadable: total.unreadable + step.unreadable };
  } while (step.next_cursor !== null);
  const { rotated, unreadable } = total;
  if (step.remaining !== 0) {
    throw new CommandError(
      `${rotated} webhooks are encrypted anew, ${step.remaining} are not yet by the first key of SECRETS_KEY; no listed ` +
        `key opens ${unreadable} of them. List every key that was in use, restart all nodes, and run this again.`,
    );
  }
  const next =
    'After a day, when kept answers of Idempotency-Keys are gone, the other keys can be removed from SECRETS_KEY.';
  return { answer: { ...total, remaining: 0 }, lines: [`${rotated} webhooks are encrypted anew, none is left.`, next] };
}

/** The newest 100 changes. */
async function listAudit(service: Service, _words: string[], { account }: Values): Promise<Result> {
  const query = account === undefined ? '' : `&account_id=${encodeURIComponent(account)}`;
  const { data } = await request<{ data: AuditEntry[] }>(service, 'GET', `/admin/v1/audit?limit=100${query}`);
  const lines = data.map(({ created_at, actor, address, action, target_id, details }) =>
    [created_at, actor.key_id ?? actor.type, address, action, target_id, JSON.stringify(details)].join('  '),
  );
  return { answer: data, lines: lines.length > 0 ? lines : ['no changes yet'] };
}

function describeAccount({ id, plan, balance, name }: Account): string {
  const amount = balance.amount === null ? 'unlimited' : `${balance.amount} credits`;
  return `${id}  ${plan}  ${amount}${balance.held > 0 ? ` (${balance.held} held)` : ''}  ${name}`;
}

function readNumber(text: string, what: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new CommandError(`${what} must be a number, not "${text}".`);
  return number;
}

/** Every row of a list, page by page. */
async function fetchAll<Item>(service: Service, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = `?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
    const answer: { data: Item[]; next_cursor: string | null } = await request(service, 'GET', path + query);
    items.push(...answer.data);
    cursor = answer.next_cursor;
    if (cursor === null) break;
  }
  return items;
}

async function request<Body>(service: Service, method: string, path: string, body?: object): Promise<Body> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  }).catch((cause: unknown) => {
    throw new CommandError(`Nothing answers at ${service.url}: start the service (npm start), or set VERBATIM_URL.`, {
      cause,
    });
  });
  if (answer.status === 204) return undefined as Body;
  const parsed = (await answer.json().catch(() => null)) as (Body & { error?: { message?: string } }) | null;
  if (answer.ok && parsed) return parsed;
  const hint = answer.status === 401 ? ' Is ADMIN_TOKEN (or DATA_DIR) that of this service?' : '';
  throw new CommandError(`${parsed?.error?.message ?? `${service.url} answered ${answer.status}.`}${hint}`);
}

/** `verbatim models` needs no running service: it works on the folder of models. */
async function runModelsCommand(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const hub = SETTINGS.hubUrl.read(env[SETTINGS.hubUrl.env] || SETTINGS.hubUrl.fallback);
  if ('mistake' in hub) throw new CommandError(`${SETTINGS.hubUrl.env} ${hub.mistake}.`);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new CommandError('Stopped; the next pull goes on where this one was.')));
  const modelsDir = dataPaths(env['DATA_DIR'] || './data').models;
  try {
    await runModels(args, { modelsDir, hubUrl: hub.value, screen: process.stdout, signal: stop.signal });
  } catch (error) {
    throw error instanceof ModelError ? new CommandError(error.message, { cause: error }) : error;
  }
  return '';
}

/** Prints what a command resolves to; or its error, with exit code 1. */
export function printResult(result: Promise<string>): void {
  result.then(
    (text) => void process.stdout.write(text),
    (error: unknown) => {
      process.stderr.write(
        error instanceof CommandError ? `verbatim: ${error.message.trimEnd()}\n` : `${String(error)}\n`,
      );
      process.exitCode = 1;
    },
  );
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  printResult(args[0] === 'models' ? runModelsCommand(args.slice(1), process.env) : runCommand(args, process.env));
}
