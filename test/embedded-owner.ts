import { startEmbedded } from '../src/db/embedded/server.ts';

// Stands in for the service in the tests of the embedded PostgreSQL: opens the directory given, says so, and stays.
const log = { debug() {}, warn() {} };
try {
  const { url, pid } = await startEmbedded({ dir: process.argv[2]!, log });
  process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refusal: (error as Error).message })}\n`);
}
