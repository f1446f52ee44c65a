import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { Session } from './command.ts';
import { changeEach } from './each-id.ts';
import { Output } from './terminal/output.ts';

for (const [options, stdout, stderr] of [
  [{}, '', 'a is deleted\nb is deleted\n'],
  [{ json: true }, '', 'a is deleted\nb is deleted\n'],
  [{ quiet: true }, 'a\nb\n', ''],
] as const) {
  test(`with ${JSON.stringify(options)} each id is changed in turn, and shown once it is`, async () => {
    const written = { stdout: '', stderr: '' };
    const screen = (name: keyof typeof written) =>
      new Writable({
        write(chunk, _encoding, done) {
          written[name] += chunk;
          done();
        },
      });
    const out = new Output({ stdout: screen('stdout'), stderr: screen('stderr'), env: {}, ...options });
    const changed: string[] = [];
    const change = async (id: string) => {
      if (id === 'refused') throw new Error('No.');
      changed.push(id);
    };

    await assert.rejects(changeEach({ out } as Session, ['a', 'b', 'refused', 'c'], 'is deleted', change), /No\./);

    assert.deepEqual([changed, written], [['a', 'b'], { stdout, stderr }]);
  });
}
