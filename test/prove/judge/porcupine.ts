import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../structure/sources.ts';
import type { History, Verdict } from './history.ts';
import { explain } from './linearizable.ts';

/** Decides which histories have a legal order. */
export type Judge = { name: string; verdicts(histories: History[]): Promise<Verdict[]> };

const FOLDER = path.join(import.meta.dirname, 'porcupine');
const LIMIT_MS = 60_000;
const MAX_ANSWER_BYTES = 2 ** 24;

/** Porcupine where Go can build it, else the search in TypeScript; both by the same definitions. */
export function openJudge(): Judge {
  return openPorcupine() ?? searchInTypeScript;
}

const searchInTypeScript: Judge = {
  name: 'search in TypeScript',
  verdicts: async (histories) => histories.map((history) => explain(history).verdict),
};

/** Null where there is no Go, or where its module cannot be fetched. */
export function openPorcupine(): Judge | null {
  const program = build();
  if (program === null) return null;
  return {
    name: 'Porcupine',
    verdicts: (histories) =>
      new Promise((resolve, reject) => {
        const child = execFile(program, { maxBuffer: MAX_ANSWER_BYTES }, (error, stdout) =>
          error ? reject(error) : resolve(JSON.parse(stdout) as Verdict[]),
        );
        child.stdin!.end(JSON.stringify({ limitMs: LIMIT_MS, histories }));
      }),
  };
}

/** The program's path; it is built once for each state of its sources. */
function build(): string | null {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(path.join(FOLDER, name)));
  const cache = path.join(ROOT, 'node_modules/.cache/verbatim');
  const program = path.join(cache, `porcupine-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  if (spawnSync('go', ['version']).error) return null;
  try {
    const env = { ...process.env, GOTOOLCHAIN: 'local' };
    execFileSync('go', ['build', '-o', program, '.'], { cwd: FOLDER, env, stdio: ['ignore', 'ignore', 'pipe'] });
    return program;
  } catch (error) {
    process.stderr.write(`Porcupine is not used: ${(error as { stderr?: Buffer }).stderr ?? error}\n`);
    return null;
  }
}
