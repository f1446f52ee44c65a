import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../../test/fixtures/service.ts';
import { editEvent } from './edit-event.ts';

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));
const event = {
  id: 'evt_1',
  type: 'webhook.test',
  body: '{"id":"evt_1","type":"webhook.test","n":12345678901234567890}',
};

/** The environment with an editor that runs the JavaScript on the text of the file. */
function editor(name: string, code: string): NodeJS.ProcessEnv {
  const file = path.join(folder, `${name}.js`);
  const open =
    "const fs = require('node:fs'); const file = process.argv.at(-1); let text = fs.readFileSync(file, 'utf8');";
  fs.writeFileSync(file, `${open} ${code}; fs.writeFileSync(file, text);`);
  return { ...process.env, VISUAL: '', EDITOR: `"${process.execPath}" "${file}"`, TMPDIR: folder };
}

test('the edited event is sent in one line, with all digits of its numbers', async () => {
  const edited = await editEvent(event, editor('change', "text = text.replace('evt_1', 'evt_2')"));

  assert.deepEqual(edited, { ...event, id: 'evt_2', body: event.body.replace('evt_1', 'evt_2') });
});

test('an event that was not changed is not sent', async () => {
  assert.equal(await editEvent(event, editor('nothing', '')), null);
});

test('text that is no event, and an editor that fails, are refused', async () => {
  await assert.rejects(editEvent(event, editor('cut', 'text = text.slice(0, 9)')), /not JSON/);
  await assert.rejects(editEvent(event, editor('bare', "text = '{}'")), /an id and a type/);
  await assert.rejects(editEvent(event, editor('fail', 'process.exit(3)')), /ended with 3/);
});

test('nothing is left behind', async () => {
  const code = `require('node:fs').writeFileSync(${JSON.stringify(path.join(folder, 'seen'))}, file)`;

  await editEvent(event, editor('look', code));

  const file = fs.readFileSync(path.join(folder, 'seen'), 'utf8');
  assert.match(file, /event\.json$/);
  assert.ok(!fs.existsSync(path.dirname(file)));
});
