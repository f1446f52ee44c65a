import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../src/demo/service.ts';

export type RunningDemo = {
  output: string;
  /** The settings of a client: VERBATIM_URL and VERBATIM_API_KEY. */
  client: { VERBATIM_URL: string; VERBATIM_API_KEY: string };
  stop(): Promise<void>;
};

/**
 * Runs a command that is the demo, and waits until it has shown what comes next.
 * @throws Error  with its output, when it ends before
 */
export async function runDemo(
  command: string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<RunningDemo> {
  const port = await freePort();
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, args, {
    cwd,
    // In a group of its own, so that a stop reaches the programs that npx and others start.
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const ended = once(child, 'close');
  const shown = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (output.includes('Ctrl-C stops the service.')) resolve();
      });
    }
  });
  const isRunning = await Promise.race([shown.then(() => true), ended.then(() => false)]);
  if (!isRunning) throw new Error(`${command.join(' ')} ended:\n${output}`);
  const [, VERBATIM_URL, VERBATIM_API_KEY] = /VERBATIM_URL=(\S+) VERBATIM_API_KEY=(\S+)/.exec(output)!;
  return {
    output,
    client: { VERBATIM_URL: VERBATIM_URL!, VERBATIM_API_KEY: VERBATIM_API_KEY! },
    async stop() {
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
    },
  };
}
