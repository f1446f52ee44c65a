import assert from 'node:assert/strict';
import test from 'node:test';
import { openFuzzEnvironment } from './environment.ts';
import { runSchemathesis } from './schemathesis.ts';

// The path of Schemathesis, where it is installed: `.ci/run` brings it.
const program = process.env['SCHEMATHESIS'];
const skip = program ? false : 'SCHEMATHESIS names no program; pip install schemathesis and set it';

test('generated requests to every operation are answered as /openapi.json says', { skip }, async () => {
  await using environment = await openFuzzEnvironment();

  const { code, report } = await runSchemathesis(program!, environment);

  assert.equal(code, 0, shortened(report));
  assert.match(report, /\b(\d{3,}) generated, \1 passed/);
});

/** The report without the ends of long lines, which are bodies. */
function shortened(report: string): string {
  return report.replace(/^(.{1000}).+$/gm, '$1 …').slice(-20_000);
}
