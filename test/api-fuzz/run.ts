import { openFuzzEnvironment } from './environment.ts';
import { runSchemathesis } from './schemathesis.ts';

await using environment = await openFuzzEnvironment();
const { code, report } = await runSchemathesis(process.env['SCHEMATHESIS']!, environment);
process.stdout.write(report);
process.exitCode = code;
