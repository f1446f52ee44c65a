import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The rate that the model compares with the one it is given, and that sherpa-onnx gives it always. */
const RATE = int64(16_000);
/** Of no audio. */
const OTHER_RATE = int64(1);

/**
 * Opens the network of Silero VAD for 8,000 samples per second. The file has one network per rate and picks the other
 * one where the rate is not 16,000: in a copy of the file, this number is another. The copy exists while it is opened.
 * @param open  given the path of the copy; it reads the file before it returns
 * @throws Error  when the file does not hold the number once: its copy would be the same network, which hears nothing
 */
export function openNarrowband<Opened>(model: string, open: (copy: string) => Opened): Opened {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-vad-'));
  try {
    const copy = path.join(folder, 'narrowband.onnx');
    writeFileSync(copy, withOtherRate(readFileSync(model)));
    return open(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withOtherRate(model: Buffer): Buffer {
  const at = model.indexOf(RATE);
  if (at < 0 || model.indexOf(RATE, at + 1) >= 0)
    throw new Error('The file is not the voice detector that is expected.');
  OTHER_RATE.copy(model, at);
  return model;
}

/** Every second sample, each the mean of two: what a telephone carries, but for what is above 4 kHz. */
export function halveRate(samples: Float32Array): Float32Array {
  const halved = new Float32Array(samples.length >> 1);
  for (let at = 0; at < halved.length; at += 1) halved[at] = (samples[2 * at]! + samples[2 * at + 1]!) / 2;
  return halved;
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}
