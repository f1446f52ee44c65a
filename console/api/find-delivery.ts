import { VerbatimError } from '#sdk/client/index.ts';
import type { Delivery } from '#sdk/wire.ts';
import { api } from './client.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const AROUND_MS = 2_000;
const MAX_READ = 500;

/**
 * The entry of the delivery log with an id, which the API finds by time:
 * ids begin with the time at which they were made.
 * @throws Error  when the log has no such entry, or no longer
 */
export async function findDelivery(id: string): Promise<Delivery> {
  const timeMs = timeOfId(id);
  const filter = {
    after: new Date(timeMs - AROUND_MS).toISOString(),
    before: new Date(timeMs + AROUND_MS).toISOString(),
    limit: 100,
  };
  let read = 0;
  for await (const delivery of api.deliveries.list(filter)) {
    if (delivery.id === id) return delivery;
    if (++read >= MAX_READ) break;
  }
  throw new VerbatimError(`The delivery log has no ${id}, or no longer.`);
}

/** Milliseconds since the epoch. */
function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1;
  let timeMs = 0;
  for (const character of id.slice(start, start + TIME_CHARS)) timeMs = timeMs * 32 + ALPHABET.indexOf(character);
  return timeMs;
}
