import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { StreamFrame } from '#sdk/client/index.ts';
import { Output } from '../../terminal/output.ts';
import type { Attempt } from '../delivery/forwarder.ts';
import type { ForwardedEvent } from '../delivery/local-delivery.ts';
import type { Outcome } from '../delivery/post.ts';
import { screenKeys } from './screen-keys.ts';
import { ScreenView } from './screen-view.ts';

const [UP, DOWN] = ['\u001b[A', '\u001b[B'];

/** A screen with 9 lines of 60 characters, of which 5 are for events or details. */
function openScreen(edited: ForwardedEvent | null | Error = null) {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const stderr = Object.assign(stream, { isTTY: true, columns: 60, rows: 9 });
  const screen = new ScreenView(new Output({ stdout: stderr, stderr, env: {}, color: 'never' }));
  const done: string[] = [];
  const keys = screenKeys(screen, {
    send: ({ id, body }) => void done.push(`send ${id} ${body}`),
    async edit({ id }) {
      done.push(`edit ${id}`);
      if (edited instanceof Error) throw edited;
      return edited;
    },
    open: async ({ id }) => void done.push(`open ${id}`),
    quit: () => void done.push('quit'),
  });
  return {
    screen,
    done,
    written: () => text,
    async press(...names: string[]) {
      for (const name of names) keys[name]!();
      await turnOfTheLoop();
      await turnOfTheLoop();
    },
    /** The lines that are shown, without spaces at their ends. */
    async lines() {
      await turnOfTheLoop();
      const drawn = stripVTControlCharacters(text.split('\u001b[H').at(-1)!.split('\u001b[?25h')[0]!);
      return drawn.split('\r\n').map((line) => line.trimEnd());
    },
  };
}

const attemptOf = (id: string, status: number, body = '{"id":"x"}'): Attempt => {
  const outcome: Outcome = { kind: 'answered', status, headers: { 'x-note': 'a\u001b[2Jb' }, body: 'thanks' };
  return {
    event: { id, type: 'webhook.test', body },
    url: new URL('http://localhost:3000/hooks'),
    attempt: 1,
    request: { headers: { 'webhook-id': id }, body },
    outcome,
    durationMs: 7,
    retryInMs: null,
  };
};

const eventFrame = (id: string): StreamFrame => ({
  type: 'event',
  data: { id, type: 'webhook.test', created_at: '', sha256: '', body: '{}' },
  resumeId: id,
});

test('the newest event is selected, until another one is', async () => {
  const terminal = openScreen();
  const { screen } = terminal;
  for (let i = 1; i <= 8; i++) screen.attempt(attemptOf(`evt_${i}`, 204));

  const newest = await terminal.lines();
  await terminal.press(UP, UP);
  screen.attempt(attemptOf('evt_9', 500));
  const moved = await terminal.lines();
  await terminal.press(DOWN, DOWN, DOWN);
  screen.frame(eventFrame('evt_10'), false);
  const last = await terminal.lines();

  assert.equal(newest.length, 9);
  assert.match(newest[6]!, /^> .* evt_8 /);
  assert.equal(newest.filter((line) => line.startsWith('>')).length, 1);
  assert.match(moved.find((line) => line.startsWith('>'))!, /evt_6/);
  assert.match(last.find((line) => line.startsWith('>'))!, /evt_10$/);
  assert.ok([...newest, ...moved, ...last].every((line) => line.length <= 60));
});

test('d shows request and answer, which the arrows scroll, and no byte of them controls the terminal', async () => {
  const terminal = openScreen();
  terminal.screen.attempt(attemptOf('evt_1', 500));

  await terminal.press('d');
  const first = await terminal.lines();
  await terminal.press(...Array.from({ length: 20 }, () => DOWN));
  const end = await terminal.lines();
  terminal.screen.attempt(attemptOf('evt_2', 204));
  await terminal.press('d');
  const list = await terminal.lines();

  assert.match(first[4]!, /^POST http:\/\/localhost:3000\/hooks$/);
  assert.equal(first[5], 'webhook-id: evt_1');
  assert.deepEqual(end.slice(3, 7), ['500', 'x-note: a\\x1b[2Jb', '', 'thanks']);
  // The one whose details were shown.
  assert.match(list.find((line) => line.startsWith('>'))!, /evt_1/);
  assert.ok(!terminal.written().includes('\u001b[2J'));
});

test('keys send, edit and open the selected event, and leave the screen to the editor', async () => {
  const terminal = openScreen({ id: 'evt_1', type: 'webhook.test', body: 'changed' });
  terminal.screen.attempt(attemptOf('evt_1', 500));

  await terminal.press('r', 'o');
  await terminal.press('e');
  await terminal.press('q');

  const sent = ['send evt_1 {"id":"x"}', 'open evt_1', 'edit evt_1', 'send evt_1 changed', 'quit'];
  assert.deepEqual(terminal.done, sent);
  assert.deepEqual(terminal.written().match(/\u001b\[\?1049[hl]/g), [
    '\u001b[?1049h',
    '\u001b[?1049l',
    '\u001b[?1049h',
  ]);
});

test('what an editor says, an unchanged event and a lost connection are shown at the bottom', async () => {
  const failing = openScreen(new Error('The text is not JSON.'));
  const unchanged = openScreen(null);
  for (const { screen } of [failing, unchanged]) screen.attempt(attemptOf('evt_1', 500));

  await failing.press('e');
  await unchanged.press('e');

  assert.equal((await failing.lines())[7], 'The text is not JSON.');
  assert.match((await unchanged.lines())[7]!, /^Nothing was changed/);
  unchanged.screen.target(new URL('http://localhost:3000'), false);
  assert.match((await unchanged.lines())[7]!, /^nothing listens on localhost:3000/);
});

test('the last 100 events are kept, and the terminal is left as it was', async () => {
  const terminal = openScreen();
  for (let i = 1; i <= 101; i++) terminal.screen.attempt(attemptOf(`evt_${i}`, 204));

  await terminal.press(...Array.from({ length: 200 }, () => UP));
  const oldest = terminal.screen.selected;
  terminal.screen[Symbol.dispose]();
  // As an editor that ends after the run.
  terminal.screen.open();

  assert.equal(oldest?.id, 'evt_2');
  assert.match(terminal.written(), /\u001b\[\?25h\u001b\[\?1049l$/);
});
