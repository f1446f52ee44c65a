import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * The first truthy value that `probe` gives. For what happens in another process and cannot be awaited there.
 * @throws Error  naming `what`, when nothing came within `timeoutMs`
 */
export async function until<Value>(
  what: string,
  probe: () => Value | Promise<Value>,
  timeoutMs = 30_000,
): Promise<NonNullable<Value>> {
  const giveUpAtMs = performance.now() + timeoutMs;
  while (true) {
    const value = await probe();
    if (value) return value;
    if (performance.now() > giveUpAtMs) throw new Error(`Waited ${timeoutMs} ms for ${what}`);
    await delay(POLL_MS);
  }
}
