import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { VERSION } from '../../platform/installation.ts';
import type { Calibration } from './calibrate.ts';

/** The leading dot keeps it out of the list of models. */
const FOLDER = '.calibrated';
const PART_BYTES = 64 * 1024;

/**
 * The calibration of a model from the last time, else a new one, which is kept for the next start. It is kept by the
 * digest of the model's files, and of the version of the service, whose decoders may change.
 * @param files      the paths of the model's files
 * @param calibrate  takes seconds
 */
export async function keptCalibration(
  modelsDir: string,
  files: readonly string[],
  calibrate: () => Promise<Calibration>,
): Promise<Calibration> {
  const kept = path.join(modelsDir, FOLDER, `${await digestOf(files)}.json`);
  const known = await readFile(kept, 'utf8').then(parse, () => null);
  if (known !== null) return known;
  const found = await calibrate();
  // Without a place to keep it, the next start measures again.
  await keep(kept, found).catch(() => undefined);
  return found;
}

async function keep(file: string, calibration: Calibration): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}`;
  await writeFile(partial, JSON.stringify(calibration));
  await rename(partial, file);
}

function parse(text: string): Calibration | null {
  try {
    const { isCalibrated, maxPieceSeconds } = JSON.parse(text) as Calibration;
    const isLength = maxPieceSeconds === null || (typeof maxPieceSeconds === 'number' && maxPieceSeconds > 0);
    return typeof isCalibrated === 'boolean' && isLength ? { isCalibrated, maxPieceSeconds } : null;
  } catch {
    return null;
  }
}

/** Of the names, the sizes, and the first and last bytes: all bytes of a large model would take seconds. */
async function digestOf(files: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(VERSION);
  for (const name of files.toSorted()) {
    await using file = await open(name);
    const stats = await file.stat();
    if (!stats.isFile()) continue;
    const { size } = stats;
    digest.update(`\n${path.basename(name)} ${size}\n`);
    for (const position of [0, Math.max(0, size - PART_BYTES)]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, position);
      digest.update(buffer.subarray(0, bytesRead));
    }
  }
  return digest.digest('hex');
}
