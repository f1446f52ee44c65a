import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import test from 'node:test';

const LOG = new URL('./log.ts', import.meta.url).href;

function startLogging(code: string) {
  const script = `import { openLog } from '${LOG}'; const log = openLog('info', { role: 'test' }); ${code}`;
  return spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The messages that a process has logged when it ended. */
async function messagesOf(code: string): Promise<string[]> {
  const child = startLogging(code);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

for (const [how, code] of [
  ['by itself', ''],
  ['by process.exit', 'process.exit(0);'],
  ['by an error', 'process.on("uncaughtException", () => process.exit(1)); throw new Error("a bug");'],
] as const) {
  test(`the last lines of a process that ends ${how} are written`, async () => {
    assert.deepEqual(await messagesOf(`log.info('one'); log.child({}).info('two'); ${code}`), ['one', 'two']);
  });
}

test('a warning is written at once, with the lines before it', async () => {
  // Killed before the 50 ms are over for which lines are gathered.
  const code = `log.info('one'); log.warn('two'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 45);`;

  assert.deepEqual(await messagesOf(code), ['one', 'two']);
});

test('lines are written while the process runs', async () => {
  const child = startLogging(`log.info('one'); setInterval(() => undefined, 1_000);`);

  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGKILL');

  assert.match(line.toString(), /"msg":"one"/);
});

for (const [when, code] of [
  ['with lines to write', `log.info('two'); process.exit(0);`],
  ['after a line that could not be written', `log.warn('two'); setTimeout(() => process.exit(0), 100);`],
] as const) {
  test(`a process whose standard output was closed ends ${when}`, async () => {
    const child = startLogging(
      `process.once('SIGUSR2', () => { ${code} }); setInterval(() => undefined, 1_000); log.warn('one');`,
    );
    try {
      await once(child.stdout, 'data');
      child.stdout.destroy();

      child.kill('SIGUSR2');

      assert.deepEqual(await once(child, 'exit'), [0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });
}
