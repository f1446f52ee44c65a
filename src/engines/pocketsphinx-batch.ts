import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Pcm } from './engine.ts';
import type { PocketsphinxFiles } from './pocketsphinx-files.ts';
import { decoderArguments } from './pocketsphinx-files.ts';
import type { PathEntry } from './pocketsphinx-words.ts';

const run = promisify(execFile);

/** A decoder that runs the program for each piece: slower by the load of the model, for machines where the library does not load. */
export function openBatchDecoder(files: PocketsphinxFiles): (piece: Pcm) => Promise<PathEntry[]> {
  return async (piece) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'verbatim-piece-'));
    try {
      await writeFile(path.join(folder, 'piece.raw'), new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
      await writeFile(path.join(folder, 'list'), 'piece\n');
      await run(files.batchProgram!, [...decoderArguments(files), ...batchArguments(folder)]);
      return readTimes(await readFile(path.join(folder, 'times'), 'utf8'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

function batchArguments(folder: string): string[] {
  const input = ['-adcin', 'yes', '-cepdir', folder, '-cepext', '.raw', '-ctl', path.join(folder, 'list')];
  return [...input, '-hyp', path.join(folder, 'text'), '-ctm', path.join(folder, 'times')];
}

/** Lines of name, channel, start, length, word and confidence; without fillers. */
function readTimes(lines: string): PathEntry[] {
  return lines
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 6)
    .map(([, , start, length, entry, confidence]) => ({
      entry: entry!,
      startSeconds: Number(start),
      endSeconds: Number(start) + Number(length),
      confidence: Number(confidence),
    }));
}
