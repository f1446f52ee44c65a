import { decodePcm } from '../src/audio/decode.ts';
import { openJailed, runJailed } from '../src/audio/jail.ts';
import { probeAudio } from '../src/audio/probe.ts';
import { useSandbox } from '../src/audio/sandbox.ts';

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
  const bounds = { memoryMaxBytes: 2 ** 45, cpuMaxSeconds: 60, wallMs: 60_000, stdoutMaxBytes: 2 ** 20 };
  const ran = await runJailed('ffmpeg', [hostileArgument], { tools, input, ...bounds });
  process.stdout.write(ran?.stdout || JSON.stringify(ran));
}
