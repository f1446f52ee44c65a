import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import readline from 'node:readline';
import { decodePcm } from '../src/audio/media/decode.ts';
import { probeAudio } from '../src/audio/media/probe.ts';
import { openJailed } from '../src/audio/sandbox/bounded-process.ts';
import { useSandbox } from '../src/audio/sandbox/sandbox.ts';
import { childProcesses } from './fixtures/children.ts';

// Stands in for the service where the test is of what another user may do: runs one thing in the sandbox and says what came.

const { tools, input, hostileArgument, kind, endlessArguments } = JSON.parse(process.argv[2]!);
if (kind) useSandbox({ kind, missing: [], reason: null });

if (endlessArguments) {
  await openJailed('ffmpeg', endlessArguments, { tools, memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 60 });
  await new Promise(() => undefined);
} else if (hostileArgument === undefined) {
  let samples = 0;
  for await (const chunk of decodePcm(input, { tools, maxAudioSeconds: 100 })) samples += chunk.length;
  const probed = await probeAudio(input, { tools, maxAudioSeconds: 100 });
  process.stdout.write(JSON.stringify({ samples, probed }));
} else {
  // V8 reserves far more addresses than it uses, so that the limit of memory has to be high.
  const bounds = { memoryMaxBytes: 2 ** 45, cpuMaxSeconds: 60 };
  const jailed = await openJailed('ffmpeg', [hostileArgument], { tools, input, ...bounds });
  void jailed.ended.then((end) => process.stderr.write(`${JSON.stringify(end)} ${jailed.lastWords()}\n`));
  const [line] = await once(readline.createInterface({ input: jailed.stdout }), 'line');
  process.stdout.write(JSON.stringify({ ...JSON.parse(line), status: statusOf(process.pid, hostileArgument) }));
  jailed.close();
}

/** What the system says of the program in the sandbox, which may be far below our child processes. */
function statusOf(pid: number, argument: string): Record<string, string> | null {
  for (const child of childProcesses(pid)) {
    const words = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
    const found = words.at(-2) === argument && !/(bwrap|setpriv|unshare)$/.test(words[0]!) ? readStatus(child) : null;
    const status = found ?? statusOf(child, argument);
    if (status !== null) return status;
  }
  return null;
}

function readStatus(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s+/)));
}
