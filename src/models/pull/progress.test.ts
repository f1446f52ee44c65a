import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openProgress } from './progress.ts';

const MB = 1e6;

const BARS = [
  {
    title: 'half way, with speed and time left',
    bar: { name: 'tone', doneBytes: 50 * MB, totalBytes: 100 * MB, bytesPerSecond: 5 * MB, columns: 100 },
    line: 'tone  [###############...............]  50 %  50 MB of 100 MB  5.0 MB/s  10 s left',
  },
  {
    title: 'at the start there is no speed yet',
    bar: { name: 'tone', doneBytes: 0, totalBytes: 100 * MB, bytesPerSecond: 0, columns: 80 },
    line: 'tone  [..............................]  0 %  0.0 MB of 100 MB',
  },
  {
    title: 'a hundred percent only at the end',
    bar: { name: 'tone', doneBytes: 100 * MB - 1, totalBytes: 100 * MB, bytesPerSecond: 0, columns: 80 },
    line: 'tone  [##############################]  99 %  100 MB of 100 MB',
  },
  {
    title: 'a narrow terminal has no fixture for the bar',
    bar: { name: 'tone', doneBytes: 50 * MB, totalBytes: 100 * MB, bytesPerSecond: 5 * MB, columns: 40 },
    line: 'tone  50 %  50 MB of 100 MB  5.0 MB/s',
  },
  {
    title: 'a long wait is shown in hours',
    bar: { name: 'tone', doneBytes: 0.1 * MB, totalBytes: 1000 * MB, bytesPerSecond: 0.1 * MB, columns: 100 },
    line: 'tone  [..............................]  0 %  0.1 MB of 1000 MB  0.1 MB/s  2.8 h left',
  },
];

for (const { title, bar, line } of BARS) {
  test(`the bar: ${title}`, () => {
    assert.equal(drawn(bar), line);
  });
}

type Bar = (typeof BARS)[number]['bar'];

/** The line after the last of some updates that show this speed. */
function drawn({ name, doneBytes, totalBytes, bytesPerSecond, columns }: Bar): string {
  let nowMs = 0;
  const written: string[] = [];
  const screen = { isTTY: true, columns, write: (text: string) => written.push(text) };
  const progress = openProgress(name, screen, () => nowMs);
  if (bytesPerSecond > 0) {
    progress.update({ file: 'f', doneBytes: 0, totalBytes });
    nowMs = (doneBytes / bytesPerSecond) * 1000;
  }
  progress.update({ file: 'f', doneBytes, totalBytes });
  return written.at(-1)!.replace('\r\x1b[K', '');
}

test('the bar is never wider than the terminal', () => {
  for (let columns = 1; columns < 120; columns += 1) {
    const line = drawn({ name: 'parakeet', doneBytes: 10, totalBytes: 1000 * MB, bytesPerSecond: 100, columns });

    assert.ok(line.length < Math.max(columns, 1), `${columns}: ${line}`);
  }
});

test('on a terminal the line is redrawn at most ten times per second, and ended at the end', () => {
  let nowMs = 0;
  const written: string[] = [];
  const screen = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
  const progress = openProgress('tone', screen, () => nowMs);

  for (let done = 0; done <= 100; done += 1, nowMs += 20)
    progress.update({ file: 'f', doneBytes: done, totalBytes: 100 });
  progress.end();

  assert.ok(written.length <= 23, String(written.length));
  assert.ok(written.slice(0, -1).every((text) => text.startsWith('\r\x1b[K') && !text.includes('\n')));
  assert.match(written.at(-2)!, /100 %/);
  assert.equal(written.at(-1), '\n');
});

test('elsewhere there is one line for every 10 %', () => {
  const written: string[] = [];
  const progress = openProgress('tone', { write: (text) => written.push(text) }, () => 0);

  for (let done = 0; done <= 100; done += 3) progress.update({ file: 'f', doneBytes: done * MB, totalBytes: 100 * MB });
  progress.update({ file: 'f', doneBytes: 100 * MB, totalBytes: 100 * MB });
  progress.end();

  const tenths = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
  assert.deepEqual(
    written,
    tenths.map((tenth) => `tone: ${tenth} % of 100 MB\n`),
  );
});

test('bytes of an earlier pull do not count for the speed', () => {
  let nowMs = 0;
  const written: string[] = [];
  const progress = openProgress(
    'tone',
    { isTTY: true, columns: 100, write: (text) => written.push(text) },
    () => nowMs,
  );

  progress.update({ file: 'f', doneBytes: 90 * MB, totalBytes: 100 * MB });
  nowMs = 1000;
  progress.update({ file: 'f', doneBytes: 91 * MB, totalBytes: 100 * MB });

  assert.match(written.at(-1)!, / 1\.0 MB\/s {2}9 s left$/);
});
