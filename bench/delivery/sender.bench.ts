// The deliverer's own processor time per attempt, without the database: signatures, one POST over TLS, the
// classification of its result; against what Node's fastest HTTP client needs for the same bytes to the same receiver,
// in turn.
//   npm run bench sender -- [--count 20000] [--rounds 5] [--in-flight 256]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { report, spread } from '../figures.ts';
import { processorUs } from '../processor-time.ts';
import type { FromReceiver } from './lean-receiver.ts';
import { writeSampleFiles } from './sample-request.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '256' },
  },
});
const COUNT = Number(values.count);
const BODY_BYTES = 1_024;

const folder = temporaryFolder();
const files = writeSampleFiles(folder, BODY_BYTES);
const receiver = fork(here('lean-receiver.ts'), [files.cert, files.key]);
const [{ port }] = (await once(receiver, 'message')) as [FromReceiver & { kind: 'listening' }];
const url = `https://127.0.0.1:${port}/hook`;
const rawSender = fork(here('raw-sender.ts'), [url, files.ca, files.headers, files.body]);
const profile = process.env['BENCH_PROFILE'];
const attemptSender = fork(here('attempt-sender.ts'), [url, files.ca, files.body, values['in-flight']], {
  execArgv: profile ? ['--cpu-prof', '--cpu-prof-dir', profile] : [],
});

const raw: number[] = [];
const attempts: number[] = [];
for (const sender of [rawSender, attemptSender]) await usOf(sender);
for (let round = 0; round < Number(values.rounds); round++) {
  raw.push(await usOf(rawSender));
  attempts.push(await usOf(attemptSender));
}
const [one, bare] = [spread(attempts), spread(raw)];
report('processor µs of an attempt without the database', `${one.p50} (${one.min} to ${one.max})`, '<= 65');
report('processor µs of a raw POST in the same run', `${bare.p50} (${bare.min} to ${bare.max})`, 'none');
for (const child of [rawSender, attemptSender, receiver]) child.disconnect();
rmSync(folder, { recursive: true });

/** Processor time of one request in a sender's process. */
async function usOf(sender: ChildProcess): Promise<number> {
  const before = processorUs(sender.pid!);
  sender.send({ kind: 'send', count: COUNT });
  await once(sender, 'message');
  return (processorUs(sender.pid!) - before) / COUNT;
}

function here(file: string): string {
  return new URL(file, import.meta.url).pathname;
}
