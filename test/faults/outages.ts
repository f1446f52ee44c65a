// Takes the database away in every way: node test/faults/outages.ts [seconds], 60 unless given. Prints what the callers met.
import { complaintsAboutOutage, OUTAGES, runOutage } from './outage.ts';

const awayMs = Number(process.argv[2] ?? 60) * 1000;
for (const outage of OUTAGES) {
  const report = await runOutage(outage, awayMs);
  console.log(JSON.stringify(report, null, 2));
  for (const complaint of complaintsAboutOutage(report)) {
    console.error(complaint);
    process.exitCode = 1;
  }
}
process.exit();
