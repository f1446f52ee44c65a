import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

// Node's own client for fetch and WebSocket. An import of all of node:http loads it.
const CLIENT = 'NativeModule internal/deps/undici/undici';

for (const role of ['api', 'janitor', 'transcriber', 'deliverer']) {
  test(`the code of the ${role} does not load a second HTTP client`, () => {
    const file = new URL(`./${role}.ts`, import.meta.url).href;
    const program = `await import(${JSON.stringify(file)}); console.log(JSON.stringify(process.moduleLoadList));`;

    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });

    const loaded = JSON.parse(output) as string[];
    assert.ok(loaded.includes('NativeModule net'));
    assert.ok(!loaded.includes(CLIENT));
  });
}
