import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '..');
const NUMBER_OF_SLOWEST = 10;

/**
 * The reporter `spec` of node:test with two additions: a file that was ended from outside has the tests that were under
 * way, and a run of many files has the slowest ones before the closing lines.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  yield* Readable.from(extend(source)).pipe(new spec());
}

async function* extend(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const underWay = new Map<string, { file: string; name: string }>();
  const seconds = new Map<string, number>();
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:dequeue') underWay.set(keyOf(data), { file: data.file ?? '', name: data.name });
    if (type === 'test:complete') underWay.delete(keyOf(data));
    if ((type === 'test:pass' || type === 'test:fail') && data.nesting === 0 && data.file) {
      seconds.set(data.file, (seconds.get(data.file) ?? 0) + data.details.duration_ms / 1_000);
    }
    if (type === 'test:diagnostic' && data.nesting === 0 && /^tests \d+$/.test(data.message)) yield* slowest(seconds);
    yield event;
    if (type !== 'test:fail' || data.name !== data.file) continue;
    const files = filesOf(data.file);
    const names = [...underWay.values()].filter(({ file }) => files.has(file)).map(({ name }) => name);
    if (names.length > 0) yield diagnostic(`${shown(data.file)} ended during: ${names.join(' > ')}`);
  }
}

/** The file itself, and those that it imports if it is a batch (test/run.ts). */
function filesOf(file: string): Set<string> {
  const imported = readFileSync(file, 'utf8').matchAll(/^import "(file:.*)";$/gm);
  return new Set([file, ...[...imported].map(([, url]) => fileURLToPath(url!))]);
}

function* slowest(files: Map<string, number>): Generator<TestEvent> {
  if (files.size <= NUMBER_OF_SLOWEST) return;
  const sorted = [...files].sort(([, a], [, b]) => b - a).slice(0, NUMBER_OF_SLOWEST);
  yield diagnostic('the slowest files, in seconds:');
  for (const [file, seconds] of sorted) yield diagnostic(`${seconds.toFixed(1).padStart(6)} ${shown(file)}`);
}

function diagnostic(message: string): TestEvent {
  return { type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } } as TestEvent;
}

function keyOf({ file, name, nesting, line }: { file?: string; name: string; nesting: number; line?: number }): string {
  return `${file}:${line}:${nesting}:${name}`;
}

function shown(file: string): string {
  return file.startsWith(ROOT) ? path.relative(ROOT, file) : path.basename(file);
}
