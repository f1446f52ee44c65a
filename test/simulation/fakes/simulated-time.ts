import crypto from 'node:crypto';
import filesystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '../../fixtures/random.ts';

const RealDate = Date;

/**
 * Replaces the process's time and random numbers by simulated ones: `Date`, `randomBytes`, `randomFillSync`, and the
 * one file access of the code under test. Import the code under test after this call.
 */
export function useSimulatedTime(source: { nowMs(): number; random(): Random }): void {
  globalThis.Date = class extends RealDate {
    constructor(...given: unknown[]) {
      // @ts-expect-error: Date takes arguments of many shapes, and passes them on as they are.
      super(...(given.length === 0 ? [source.nowMs()] : given));
    }
    static override now(): number {
      return source.nowMs();
    }
  } as DateConstructor;

  const randomBytes = (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => source.random().integer(256)));
  (crypto as { randomBytes: unknown }).randomBytes = randomBytes;
  (crypto as { randomFillSync: unknown }).randomFillSync = (into: Buffer) => into.set(randomBytes(into.length));
  (filesystem as { access: unknown }).access = async () => undefined;
  syncBuiltinESMExports();
}
