import type { Command } from 'commander';
import type { Verbatim, VerbatimAdmin } from '#sdk/client/index.ts';
import { AnswerKeeper } from './exact-json.ts';
import { CommandError, EXIT } from './exit.ts';
import { type Connection, findConnection } from './profile/connection.ts';
import { findOperator } from './profile/operator.ts';
import { startBrowser, webPage } from './terminal/browser.ts';
import { type ColorChoice, Output, type Screen } from './terminal/output.ts';
import { typed } from './typed.ts';

/** What a run of the program reads and writes. */
export type Io = {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: Screen;
  stderr: Screen;
  /** Aborted by Ctrl-C, or when the reader of standard output is gone. */
  signal: AbortSignal;
};

/** A file of a command: it adds the arguments, options, subcommands and actions. */
export type CommandModule = { define(command: Command, io: Io): void };

/** The headings of the help, in their order. */
export type Group = 'Transcribe:' | 'Webhooks:' | 'Account:' | 'Shell:' | 'Operate:' | 'Run the service:' | 'Develop:';

/** A command of the program. Its file is loaded when the command is used. */
export type CommandRow = { name: string; group: Group; summary: string; load(): Promise<CommandModule> };

/** The options of every command. */
export type Globals = { json?: boolean; quiet?: boolean; profile?: string; url?: string; color?: ColorChoice };

/** One run of one command. */
export type Session = {
  io: Io;
  out: Output;
  globals: Globals;
  /** Where requests go; the key may be missing. */
  connection(): Connection;
  /** The API client. @throws CommandError  without a key */
  client(): Promise<Verbatim>;
  /** The client of the operator's API. @throws CommandError  without a token */
  admin(url?: string): Promise<VerbatimAdmin>;
  /** The last JSON answer of the API as the service has written it, with all digits of its numbers. */
  answer(): unknown;
};

type Handler<Args extends unknown[], Options> = (
  session: Session,
  options: Options & Globals,
  ...args: Args
) => Promise<void> | void;

/**
 * The action of a command: calls the handler with the session, the options and the command's arguments.
 * @param handler  throws CommandError to end with another exit code than 0
 */
export function action<Args extends unknown[], Options = object>(io: Io, handler: Handler<Args, Options>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals() as Options & Globals;
    const args = given.slice(0, -2) as Args;
    const session = openSession(io, options);
    const page = (options as { web?: boolean }).web ? webPage(command, args) : null;
    if (page !== null) await openPage(session, page);
    else await handler(session, options, ...args);
  };
}

/** Opens a page of the console. Prints its address with --quiet and --json. */
export async function openPage({ io, out, globals, connection }: Session, page: string): Promise<void> {
  const isOperators = page.startsWith('operator');
  const { url } = isOperators ? findOperator(io.env, { url: globals.url }) : connection();
  const address = `${url}/#/${page}`;
  if (out.mode !== 'text') return out.show({ json: { url: address }, ids: [address], lines: [] });
  out.note(`Opening ${address}`);
  await startBrowser(address, io.env);
}

function openSession(io: Io, globals: Globals): Session {
  const { json = false, quiet = false, color = 'auto' } = globals;
  const connection = () => findConnection(io.env, globals);
  const keeper = new AnswerKeeper();
  return {
    io,
    globals,
    out: new Output({ stdout: io.stdout, stderr: io.stderr, env: io.env, json, quiet, color }),
    connection,
    async client() {
      const { url, apiKey } = connection();
      if (apiKey === null) {
        const advice = `run "${typed(io.env, 'init')}", or set VERBATIM_API_KEY.`;
        throw new CommandError(`You are not signed in at ${url}: ${advice}`, EXIT.notSignedIn);
      }
      const { Verbatim } = await import('#sdk/client/index.ts');
      return new Verbatim({ baseUrl: url, apiKey, fetch: keeper.fetch, signal: io.signal });
    },
    async admin(wantedUrl = globals.url) {
      const { url, token } = findOperator(io.env, { url: wantedUrl });
      const { VerbatimAdmin } = await import('#sdk/client/index.ts');
      return new VerbatimAdmin({ baseUrl: url, adminToken: token, fetch: keeper.fetch, signal: io.signal });
    },
    answer: () => keeper.answer,
  };
}
