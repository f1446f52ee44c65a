import type { Pcm } from './engine.ts';

/** The parts as one; a single part is not copied. */
export function joinPcm(parts: Pcm[]): Pcm {
  if (parts.length === 1) return parts[0]!;
  const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
