import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../../../src/platform/installation.ts';
import type { Layouts } from './take.ts';

/** Of the pictures, those that the docs show; all others can be made again. */
const SHOWN = ['job-1440-light', 'job-1440-dark', 'home-1440-light', 'attempt-1440-light', 'job-390-light'];
const IMAGES = path.join(ROOT, 'docs/images');
const LAYOUTS = path.join(import.meta.dirname, 'layouts.json');

/** Keeps the pictures that the docs show, and the layouts of the visited pages. */
export async function keep(visit: (folder: string) => Promise<Map<string, Layouts>>): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-pictures-'));
  try {
    const found = await visit(folder);
    mkdirSync(IMAGES, { recursive: true });
    for (const name of SHOWN.filter((each) => found.has(each.replace(/-\d+-\w+$/, '')))) {
      copyFileSync(path.join(folder, `${name}.webp`), path.join(IMAGES, `${name}.webp`));
    }
    writeLayouts({ ...readLayouts(), ...Object.fromEntries(found) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function readLayouts(): Record<string, Layouts> {
  return JSON.parse(readFileSync(LAYOUTS, 'utf8')) as Record<string, Layouts>;
}

/** A line for each box: a change reads as such. */
function writeLayouts(layouts: Record<string, Layouts>): void {
  const text = JSON.stringify(layouts, null, 1).replace(
    /\[\s+("(?:[^"\\]|\\.)*"),\s+(-?\d+),\s+(\d+)\s+\]/g,
    '[$1, $2, $3]',
  );
  writeFileSync(LAYOUTS, `${text}\n`);
}
