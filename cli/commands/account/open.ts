import type { Command } from 'commander';
import { action, type Io, type Session } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { startBrowser } from '../../terminal/browser.ts';

/** The page of the console for each kind of id. */
const PAGES: Record<string, string> = { job: 'jobs', evt: 'events', wh: 'webhooks' };

/** `verbatim open` */
export function define(command: Command, io: Io): void {
  command
    .argument('[id]', 'a job, event or webhook')
    .option('--print', 'print the address, open nothing')
    .action(action<[string | undefined], { print?: boolean }>(io, openConsole));
}

async function openConsole(session: Session, { print }: { print?: boolean }, id: string | undefined): Promise<void> {
  const { out, io } = session;
  const address = consoleAddress(session, id);
  if (print || out.mode !== 'text') return out.show({ json: { url: address }, ids: [address], lines: [[address]] });
  out.note(`Opening ${address}`);
  await startBrowser(address, io.env);
}

/** The address of the console, or of the page for an id. @throws UsageError */
export function consoleAddress({ connection }: Session, id?: string): string {
  return `${connection().url}/${id === undefined ? '' : pageOf(id)}`;
}

function pageOf(id: string): string {
  const [, kind = ''] = /^([a-z]+)_[0-9a-z]+$/.exec(id) ?? [];
  const page = Object.hasOwn(PAGES, kind) ? PAGES[kind] : undefined;
  if (page === undefined) throw new UsageError(`"${id}" is not the id of a job, event or webhook.`);
  return `#/${page}/${id}`;
}
