import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { findChromium, openBrowser, openPage, type WatchedPage } from './harness/browser.ts';
import { openFixture } from './harness/fixture.ts';
import { type Flow, runFlow } from './harness/flow.ts';

// `CONSOLE_FLOWS=jobs,keys` runs the flows of these files only.
const wanted = process.env['CONSOLE_FLOWS']?.split(',');
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .filter((name) => !wanted || wanted.includes(path.parse(name).name));
const modules = await Promise.all(
  files.map(async (name) => {
    const { flows } = (await import(path.join(import.meta.dirname, name))) as { flows: Flow[] };
    return flows.map((flow) => ({ ...flow, title: `${path.parse(name).name}: ${flow.title}` }));
  }),
);
const chromium = findChromium();
const skip = chromium ? false : 'NOT TESTED: the console in a browser. Install Chromium, or name one in CHROMIUM.';
if (skip) process.stderr.write(`${skip}\n`);

test('the console in a browser', { skip, concurrency: 3 }, async (t) => {
  await using fixture = await openFixture();
  await using browser = await openBrowser(chromium!, fixture.spoken);
  const flows = modules.flat();
  assert.ok(flows.length > 0);

  const idle: WatchedPage[] = [];
  const run = async (flow: Flow) => {
    const page = idle.pop() ?? (await openPage(browser, fixture.service.baseUrl));
    await runFlow(page, fixture, flow);
    // The page of a flow that failed is not used again.
    idle.push(page);
  };
  await Promise.all(flows.map((flow) => t.test(flow.title, () => run(flow))));
});
