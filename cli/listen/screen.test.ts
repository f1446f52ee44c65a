import assert from 'node:assert/strict';
import fs from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { openScriptedServer } from '../../test/fixtures/servers/scripted-server.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { runCli } from '../main.ts';

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));

const ACCOUNT = { name: 'Acme', plan: 'pro', webhook_header_prefix: 'X-Service-' };
const BODY = '{"id":"evt_1","type":"webhook.test"}';
const EVENT = { id: 'evt_1', type: 'webhook.test', created_at: '', sha256: '', body: BODY };

/** A terminal: what is typed, and what is shown. */
function openTerminal() {
  let text = '';
  const waiting = new Set<() => void>();
  const screen = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      for (const look of [...waiting]) look();
      done();
    },
  });
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  return {
    stdin,
    screen: Object.assign(screen, { isTTY: true, columns: 100, rows: 12 }),
    text: () => text,
    /** Resolves when the text is on the screen. */
    async shows(pattern: RegExp): Promise<void> {
      await new Promise<void>((resolve) => {
        const look = () => {
          if (!pattern.test(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };
}

test('on the screen an event is listed with its attempt, sent again by r, and q ends the run', async () => {
  await using target = await openScriptedServer([{ status: 500 }, { status: 204 }]);
  await using service = await openScriptedServer([
    { status: 200, json: ACCOUNT },
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: hello\ndata: {}\n\nevent: event\nid: evt_1\ndata: ${JSON.stringify(EVENT)}\n\n`);
    },
  ]);
  const { stdin, screen, text, shows } = openTerminal();
  const env = { VERBATIM_URL: service.url, VERBATIM_API_KEY: 'vb_x', XDG_CONFIG_HOME: folder };
  const io = { env, stdin, stdout: screen, stderr: screen, signal: new AbortController().signal };

  const run = runCli(['listen', '--tui', '--forward-to', `${target.url}/hooks`], io);
  await shows(/> .*evt_1.*500.*\/hooks/);
  stdin.write('r');
  await shows(/> .*evt_1.*204.*\/hooks/);
  stdin.write('q');

  assert.equal(await run, 0);
  assert.deepEqual(
    target.requests.map(({ body }) => body.toString()),
    [BODY, BODY],
  );
  assert.match(text(), /listening as Acme \(pro\)/);
  // Back from the screen, with the cursor.
  assert.match(text(), /\u001b\[\?25h\u001b\[\?1049l$/);
});
