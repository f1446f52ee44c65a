import crypto from 'node:crypto';
import filesystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '../../fixtures/random.ts';

const RealDate = Date;

/**
 * Takes the process's time and chance into the simulation's hands: `Date`, `randomBytes`, and the one look at a file
 * that the code under test takes. Import nothing of the code under test before.
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
  (filesystem as { access: unknown }).access = async () => undefined;
  syncBuiltinESMExports();
}
