import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { CommandError } from '../exit.ts';

/** The page of the console that shows what a command with these arguments prints: `jobs/job_…`. */
export type PageOf = (...args: never[]) => string;

const PAGES = new WeakMap<Command, PageOf>();

/**
 * Adds --web: the command opens a page of the console in place of printing. Pages of operators begin with `operator`.
 */
export function addWebOption(command: Command, page: PageOf): Command {
  PAGES.set(command, page);
  return command.option('--web', 'open it in the console');
}

/** The page of a command with --web; null without one. */
export function webPage(command: Command, args: unknown[]): string | null {
  return PAGES.get(command)?.(...(args as never[])) ?? null;
}

/** Resolves when the program that opens browsers has started. BROWSER names another one. */
export async function startBrowser(address: string, env: NodeJS.ProcessEnv): Promise<void> {
  const opener = env['BROWSER'] || { darwin: 'open', win32: 'explorer' }[process.platform as string] || 'xdg-open';
  const browser = spawn(opener, [address], { stdio: 'ignore', detached: true, env });
  await new Promise<void>((resolve, reject) => {
    browser.once('spawn', resolve);
    browser.once('error', (cause) => {
      reject(new CommandError(`${opener} cannot be started: open ${address} yourself.`, undefined, { cause }));
    });
  });
  browser.unref();
}
