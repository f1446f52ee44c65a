/** Replaces src/audio/media/cut-off.ts, which reads the file: how long that takes follows from no seed. */
export async function readStatedLength(): Promise<{ seconds: number }> {
  return { seconds: 0 };
}

/** No simulated file is cut off. */
export function isCutOff(): boolean {
  return false;
}
