// Runs each kind of database outage: node test/faults/outages.ts [seconds], 60 by default. Prints the clients' answers.
import { OUTAGES, outageProblems, runOutage } from './outage.ts';

const outageMs = Number(process.argv[2] ?? 60) * 1000;
for (const outage of OUTAGES) {
  const report = await runOutage(outage, outageMs);
  console.log(JSON.stringify(report, null, 2));
  for (const problem of outageProblems(report)) {
    console.error(problem);
    process.exitCode = 1;
  }
}
process.exit();
