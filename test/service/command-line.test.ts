import assert from 'node:assert/strict';
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/index.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { runVerbatim } from '../fixtures/cli.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { readZipEntry } from '../fixtures/zip.ts';

// The commands against a running service whose engine says always the same.

const METADATA = '{"order":12345678901234567890,"price":1.10}';
const said = JSON.stringify({ text: 'Good morning', language: 'english' });
const speech = await openSpeechServer({ body: said });
const folder = temporaryFolder();
const wav = path.join(folder, 'call.wav');
fs.writeFileSync(wav, toneWav('abc'));

let service: TestService;
let env: Record<string, string>;
/** Runs a command as the account of the tests. */
const run = (args: string | string[], setup: Parameters<typeof runVerbatim>[1] = {}) =>
  runVerbatim(args, { ...setup, env: { ...env, ...setup.env } });
/** Standard output of a command that succeeds. */
const outputOf = async (args: string | string[], setup?: Parameters<typeof runVerbatim>[1]) => {
  const { code, stdout, stderr } = await run(args, setup);
  assert.equal(code, 0, stderr);
  return stdout;
};
const jsonOf = async (args: string | string[]) => JSON.parse(await outputOf(args));

before(async () => {
  const engine = `openai:${speech.baseUrl}`;
  service = await openService({
    ENGINE_LITE: engine,
    ENGINE_PRO: engine,
    AUDIO_RETENTION_HOURS: '1',
    RATE_LIMIT_TRANSCRIBE: 'off',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1/32:9',
  });
  const { key } = await service.account({ credits: 100 });
  env = { VERBATIM_URL: service.baseUrl, VERBATIM_API_KEY: key, ADMIN_TOKEN: service.adminToken };
});

after(async () => {
  await service[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
  fs.rmSync(folder, { recursive: true });
});

describe('verbatim transcribe', () => {
  test('prints the text of a file, and all else on standard error', async () => {
    const { code, stdout, stderr } = await run(['transcribe', wav]);

    assert.deepEqual([code, stdout], [0, 'Good morning\n']);
    assert.match(stderr, /call\.wav {2}done {2}0:00 {2}.*credits {2}job_\w+\n$/);
  });

  test('prints the warnings of a job on standard error, also where only ids or JSON are printed', async () => {
    const wanted = /^(\S*call\.wav|job_\w+): words_unsupported: The engine gives no times of words here/m;

    const runs = [await run(['transcribe', wav, '--words']), await run(['transcribe', wav, '--words', '--json'])];
    runs.push(await run(['transcribe', wav, '--words', '-q']));
    runs.push(await run(['jobs', 'follow', runs[2]!.stdout.trim(), '-q']));
    const [, , quiet, followed] = runs;

    for (const { code, stderr } of runs) {
      assert.equal(code, 0);
      assert.match(stderr, wanted);
    }
    assert.equal(followed!.stdout, quiet!.stdout);
  });

  test('reads standard input', async () => {
    const setup = { stdin: toneWav('abc') };

    const job = JSON.parse(await outputOf('transcribe - --name talk.wav --json', setup));

    assert.deepEqual([job.text, job.audio.filename], ['Good morning', 'talk.wav']);
  });

  test('passes the options of the API on, and --json keeps all digits of the metadata', async () => {
    const options = '--words --language en --keyword Kubernetes --keyword Envoy --replace morning=evening --plan pro';

    const text = await outputOf(['transcribe', wav, '--json', '--metadata', METADATA, ...options.split(' ')]);

    const job = JSON.parse(text);
    assert.match(text, /"order": 12345678901234567890,\n\s+"price": 1\.10\n/);
    assert.deepEqual(job.options, {
      language: 'en',
      timestamps: 'word',
      keywords: ['Kubernetes', 'Envoy'],
      replacements: [{ from: 'morning', to: 'evening' }],
    });
    assert.deepEqual([job.text, job.metadataText], ['Good evening', undefined]);
  });

  test('writes the transcripts of several files to a folder, and does not replace them', async () => {
    const out = path.join(folder, 'subs');
    fs.writeFileSync(path.join(folder, 'second.wav'), toneWav('de'));
    const words = ['transcribe', wav, path.join(folder, 'second.wav'), '-o', 'srt', '--out', out];

    const ids = (await outputOf([...words, '-q'])).trim().split('\n');
    const again = await run(words);
    const forced = await run([...words, '--force']);

    assert.ok(ids.length === 2 && ids.every((id) => /^job_\w+$/.test(id)));
    assert.deepEqual(fs.readdirSync(out).sort(), ['call.srt', 'second.srt']);
    assert.match(fs.readFileSync(path.join(out, 'call.srt'), 'utf8'), /^1\n00:00:00,000 --> .*\nGood morning\n/);
    assert.deepEqual([again.code, again.stdout], [2, '']);
    assert.match(again.stderr, /call\.srt exists: --force replaces it/);
    assert.deepEqual([forced.code, forced.stdout], [0, '']);
  });

  test('writes documents to files, and refuses to print those that are no text', async () => {
    const out = path.join(folder, 'documents');

    const id = (await outputOf(['transcribe', wav, '-o', 'docx', '--out', out, '-q'])).trim();
    const pdf = path.join(folder, 'call.pdf');
    await outputOf(['jobs', 'transcript', id, '-o', 'pdf', '--out', pdf]);
    const markdown = await outputOf(['jobs', 'transcript', id, '-o', 'md']);
    const refused = [await run(['transcribe', wav, '-o', 'docx']), await run(['jobs', 'transcript', id, '-o', 'pdf'])];

    const docx = readZipEntry(fs.readFileSync(path.join(out, 'call.docx')), 'word/document.xml').toString();
    assert.match(docx, />Good morning</);
    assert.equal(fs.readFileSync(pdf).subarray(0, 5).toString(), '%PDF-');
    assert.match(markdown, /^# call\.wav\n\n.+\n\n\*\*00:00:00\*\* Good morning\n$/);
    for (const { code, stderr } of refused) assert.deepEqual([code, /needs --out/.test(stderr)], [2, true]);
  });

  test('keeps the file extensions of files that differ in nothing else, and refuses two transcripts with one name', async () => {
    const out = path.join(folder, 'alike');
    const [other, elsewhere] = [path.join(folder, 'call.wave'), path.join(folder, 'elsewhere')];
    fs.writeFileSync(other, toneWav('de'));
    fs.mkdirSync(elsewhere);
    fs.writeFileSync(path.join(elsewhere, 'call.wav'), toneWav('de'));

    await outputOf(['transcribe', wav, other, '--out', out]);
    const same = await run(['transcribe', wav, path.join(elsewhere, 'call.wav'), '--out', path.join(folder, 'same')]);

    assert.deepEqual(fs.readdirSync(out).sort(), ['call.wav.txt', 'call.wave.txt']);
    assert.equal(same.code, 2);
    assert.match(same.stderr, /would both be written to .*call\.wav\.txt: use another --out/);
  });

  test('prints several results in the order of the files, as text with names or as NDJSON', async () => {
    const words = ['transcribe', wav, path.join(folder, 'second.wav')];
    fs.writeFileSync(path.join(folder, 'second.wav'), toneWav('de'));

    const text = await outputOf(words);
    const lines = (await outputOf([...words, '--json'])).trim().split('\n');

    assert.equal(text, `==> ${wav} <==\nGood morning\n==> ${words[2]} <==\nGood morning\n`);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).audio.filename),
      ['call.wav', 'second.wav'],
    );
  });

  test('with --async prints the job at once', async () => {
    const line = await outputOf(['transcribe', wav, '--async']);

    const [, id] = /^(job_\w+) {2}queued {2}\S+call\.wav\n$/.exec(line) ?? [];
    assert.equal((await jsonOf(['jobs', 'get', id!, '--json'])).id, id);
    assert.equal((await run(['transcribe', wav, '--async', '-o', 'srt'])).code, 2);
  });

  test('with --web opens the job in the console at once, and several files in the list of jobs', async () => {
    const web = { env: { BROWSER: '/bin/true' } };

    const { stdout, stderr } = await run(['transcribe', wav, '--web'], web);
    const two = await run(['transcribe', wav, wav, '--web', '--quiet'], web);

    const [, id] = /\nOpening http\S+\/#\/jobs\/(job_\w+)\n$/.exec(stderr) ?? [];
    assert.equal((await jsonOf(['jobs', 'get', id!, '--json'])).id, id);
    assert.deepEqual([stdout, two.stdout], ['', `${service.baseUrl}/#/jobs\n`]);
    assert.equal((await run(['transcribe', wav, '--web', '-o', 'srt'], web)).code, 2);
  });

  test('shows escape sequences in file names harmless', async () => {
    const name = path.join(folder, 'red\u001b[31m\u009b\nname.wav');
    fs.writeFileSync(name, toneWav('a'));

    const { code, stderr } = await run(['transcribe', name, '--color', 'always']);

    assert.equal(code, 0);
    assert.match(stderr, /red\\x1b\[31m\\x9b\\x0aname\.wav/);
    assert.doesNotMatch(stderr.replaceAll(/\u001b\[\d+m/g, ''), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test('ends with 5, 2, 1 and 6 for what is not there, cannot be used, is not audio and is not paid', async () => {
    const text = path.join(folder, 'notes.wav');
    fs.writeFileSync(text, 'not audio');
    const poor = await service.account({ credits: 0 });

    const missing = await run(['transcribe', path.join(folder, 'nothing.wav')]);
    const directory = await run(['transcribe', folder]);
    const notAudio = await run(['transcribe', text]);
    const unpaid = await run(['transcribe', wav], { env: { VERBATIM_API_KEY: poor.key } });
    const unknown = await run(['transcribe', wav], { env: { VERBATIM_API_KEY: 'vb_unknown' } });
    const [one, other] = [await run(['transcribe', wav, text]), await run(['transcribe', wav, wav, '-o', 'srt'])];

    assert.deepEqual([missing.code, directory.code, notAudio.code], [5, 2, 1]);
    assert.deepEqual([unpaid.code, unknown.code, one.code, other.code], [6, 4, 1, 2]);
    assert.match(notAudio.stderr, /verbatim: .*\(req_\w+\)\n$/);
    assert.match(one.stdout, /Good morning/);
    assert.match(one.stderr, /verbatim: 1 of 2 were not transcribed\.\n$/);
  });

  test('shows bars on a terminal', async () => {
    const { stderr } = await run(['transcribe', wav], { isTerminal: true });

    assert.match(stderr, /call\.wav {2}\u001b\[36m-+\u001b\[39m {3}0 % {2}upload\n/);
    assert.match(stderr, /\u001b\[1A\u001b\[J/);
    assert.match(stderr, /call\.wav {2}\u001b\[32mdone\u001b\[39m/);
  });

  test('Ctrl-C while it waits ends with 130, and says how to go on with the job', async () => {
    speech.answerAll('hold');
    const stop = new AbortController();
    // The job exists once the bar says that it waits.
    const onStderr = (text: string) => text.includes('queued') && stop.abort();

    const { code, stdout, stderr } = await run(['transcribe', wav], {
      signal: stop.signal,
      isTerminal: true,
      onStderr,
    });
    speech.answerAll({ body: said });
    speech.answerHeld({ body: said });

    const [, id] = /(job_\w+) goes on: verbatim jobs follow \1\nverbatim: interrupted\n$/.exec(stderr) ?? [];
    assert.deepEqual([code, stdout], [130, '']);
    assert.match(await outputOf(['jobs', 'follow', id!]), /0:00 {2}Good morning\n/);
  });
});

describe('verbatim jobs', () => {
  test('lists jobs in a table, as the answer, as NDJSON and as ids', async () => {
    await outputOf(['transcribe', wav, wav, wav]);

    const page = await jsonOf('jobs list --limit 2 --json');
    const ids = (await outputOf('jobs list --all -q')).trim().split('\n');
    const lines = (await outputOf('jobs list --all --limit 2 --json')).trim().split('\n');
    const table = await outputOf('jobs list --status completed --query call.wav --limit 1');
    const more = await run('jobs list --limit 1');

    assert.deepEqual([page.data.length, page.has_more], [2, true]);
    assert.ok(ids.length >= 3);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      ids,
    );
    const [head, row, end] = table.split('\n');
    assert.match(head!, /^job +status +plan +length +credits +created +name$/);
    assert.match(row!, /^job_\w+ {2}completed {2}pro {3}0:00 {4}[\d.]+ +\S+Z {2}call\.wav$/);
    assert.equal(end, '');
    assert.match(more.stderr, /^More: --all, or --cursor \S+\n$/);
    assert.equal(await outputOf(['jobs', 'list', '-q', '--limit', '1', '--cursor', page.next_cursor]), `${ids[2]}\n`);
  });

  test('replaces and removes the metadata with all its digits', async () => {
    const id = (await outputOf(['transcribe', wav, '--async', '--quiet'])).trim();

    assert.equal(await outputOf(['jobs', 'metadata', id, METADATA]), `metadata of ${id}: ${METADATA}\n`);
    assert.equal(await outputOf(['jobs', 'metadata', id, 'null']), `metadata of ${id}: none\n`);
    assert.equal((await run(['jobs', 'metadata', id, '{'])).code, 2);
  });

  test('names a job, tags it, and lists it by a tag', async () => {
    const names = ['--title', 'First call', '--tag', 'sales', '--tag', 'Zoë'];
    const id = (await outputOf(['transcribe', wav, '-q', ...names])).trim();

    assert.equal(await outputOf(['jobs', 'list', '--tag', 'Zoë', '-q']), `${id}\n`);
    assert.match(await outputOf(['jobs', 'list', '--tag', 'sales']), /First call/);
    assert.equal(await outputOf(['jobs', 'rename', id, 'Second call']), `title of ${id}: Second call\n`);
    assert.match(await outputOf(['jobs', 'get', id]), /title\s+Second call\ntags\s+sales, Zoë\n/);
    assert.equal(await outputOf(['jobs', 'tag', id, 'archive']), `tags of ${id}: archive\n`);
    assert.equal(await outputOf(['jobs', 'tag', id]), `tags of ${id}: none\n`);
    assert.equal(await outputOf(['jobs', 'rename', id]), `title of ${id}: none\n`);
  });

  test('shares a transcript by a link, lists the links and ends them', async () => {
    const id = (await outputOf(['transcribe', wav, '-q'])).trim();

    const made = await run(['jobs', 'share', id, '--expires', '2h']);
    const { id: second, expires_at: end } = await jsonOf(['jobs', 'share', id, '--expires', '1d', '--json']);
    const shares = (await outputOf(['jobs', 'shares', id, '-q'])).trim().split('\n');
    const table = await outputOf(['jobs', 'shares', id]);
    const ended = await run(['jobs', 'unshare', id, ...shares]);

    assert.match(made.stdout, new RegExp(`^${service.baseUrl}/#/shared/\\S+\\n$`));
    assert.ok(Math.abs(Date.parse(end) - Date.now() - 86_400_000) < 3_600_000);
    assert.deepEqual([shares.length, shares[0]], [2, second]);
    assert.match(table, /^link +created +ends +opened\n/);
    assert.equal(ended.stderr, shares.map((share) => `${share} has ended\n`).join(''));
    assert.equal((await run(['jobs', 'shares', id])).stderr, 'No links.\n');
    assert.equal((await run(['jobs', 'share', id, '--expires', 'soon'])).code, 2);
  });

  test('writes the stored audio to a file, as it came or for browsers', async () => {
    const id = (await outputOf(['transcribe', wav, '-q'])).trim();
    const [original, copy] = [path.join(folder, 'original.wav'), path.join(folder, 'copy.ogg')];

    await outputOf(['jobs', 'audio', id, '--out', original]);
    await outputOf(['jobs', 'audio', id, '--opus', '--out', copy]);

    assert.deepEqual(fs.readFileSync(original), fs.readFileSync(wav));
    assert.equal(fs.readFileSync(copy).toString('latin1', 0, 4), 'OggS');
    assert.equal((await run(['jobs', 'audio', id])).code, 2);
  });

  test('shows, retries, cancels and deletes a job', async () => {
    const id = (await outputOf(['transcribe', wav, '-q'])).trim();

    const shown = await outputOf(['jobs', 'get', id]);
    const text = await outputOf(['jobs', 'transcript', id]);
    const captions = await outputOf(['jobs', 'transcript', id, '-o', 'vtt', '--max-lines', '1']);
    const again = await jsonOf(['jobs', 'retry', id, '--json']);
    await outputOf(['jobs', 'follow', again.id, '-q']);
    const canceled = await run(['jobs', 'cancel', id]);
    const deleted = await run(['jobs', 'delete', id, again.id]);
    const gone = await run(['jobs', 'get', id]);

    assert.match(shown, /^job +job_\w+\nstatus +completed\n.*\n\nGood morning\n$/s);
    assert.equal(text, 'Good morning\n');
    assert.match(captions, /^WEBVTT\n/);
    assert.notEqual(again.id, id);
    assert.equal(canceled.code, 1);
    assert.deepEqual([deleted.code, deleted.stdout], [0, '']);
    assert.equal(deleted.stderr, `${id} is deleted\n${again.id} is deleted\n`);
    assert.deepEqual([gone.code, gone.stdout], [5, '']);
    assert.match(gone.stderr, /^verbatim: .*\(req_\w+\)\n$/);
  });
});

describe('the account', () => {
  test('whoami, balance and usage show it', async () => {
    const account = await jsonOf('whoami --json');

    assert.match(
      await outputOf('whoami'),
      /^account +test \(acct_\w+\)\nplan +pro\nservice +http:\/\/127\.0\.0\.1:\d+\n/,
    );
    assert.equal(await outputOf('whoami -q'), `${account.id}\n`);
    assert.match(await outputOf('balance'), /^balance +\d+(\.\d+)? credits\n/);
    assert.match(await outputOf('usage --from 1d --group-by plan'), /pro +\d+ +0 +0 .*\ntotal +.*\n$/s);
    assert.equal((await jsonOf('usage --bucket hour --json')).bucket, 'hour');
    assert.match(await outputOf('usage --csv'), /^start,end,plan,model,key_id,jobs,.*\r\n/);
  });

  test('the ledger is listed, and written as CSV whole', async () => {
    const all = (await outputOf('ledger --all --quiet')).trim().split('\n');

    const table = await outputOf('ledger --csv --limit 2');
    const jobs = await outputOf('jobs list --csv --limit 1');

    assert.match(await outputOf('ledger --all'), /\n1 +credit +100 +0 +100 /);
    const column = (text: string) => text.split('\r\n').map((line) => line.split(',', 1)[0]);
    assert.deepEqual(column(table), ['id', ...all, '']);
    assert.deepEqual(column(jobs), ['id', ...(await outputOf('jobs list --all -q')).trim().split('\n'), '']);
  });

  test('keys are made, listed and revoked, by their owner and by the operator', async () => {
    const account = (await outputOf('whoami -q')).trim();
    const own = await jsonOf('keys create --name ci --scopes jobs:read --json');
    const operators = await jsonOf(['keys', 'create', account, '--name', 'given', '--json']);

    const list = await outputOf('keys list');

    assert.match(own.key, /^vb_/);
    assert.match(list, new RegExp(`^key .*\n${operators.id} .*given\n${own.id} {2}${own.prefix}… {2}jobs:read .*ci\n`));
    assert.equal((await outputOf(['keys', 'list', account, '-q'])).split('\n').length, list.split('\n').length - 1);
    assert.equal((await run('balance', { env: { VERBATIM_API_KEY: own.key } })).code, 1);
    assert.equal((await run(['keys', 'revoke', own.id])).stderr, `${own.id} is revoked\n`);
    assert.equal((await run(['keys', 'revoke', operators.id, '--operator'])).code, 0);
    assert.equal((await run('balance', { env: { VERBATIM_API_KEY: operators.key } })).code, 4);
  });
});

describe('webhooks', () => {
  const url = 'https://127.0.0.1:9/hooks?token=a';

  test('are made, shown, changed, tested, recovered and deleted', async () => {
    const created = await run([
      'webhooks',
      'create',
      url,
      '--events',
      'webhook.test',
      '--description',
      'CRM',
      '--json',
    ]);
    const { id, secret } = JSON.parse(created.stdout);
    const list = await outputOf('webhooks list');
    const updated = await jsonOf(['webhooks', 'update', id, '--max-per-second', '5', '--json']);
    const nothing = await run(['webhooks', 'update', id]);
    const rotated = await run(['webhooks', 'rotate', id, '--overlap', '60']);
    const tested = await outputOf(['webhooks', 'test', id, '--type', 'transcription.completed']);
    const failed = await until('the failed delivery', async () => {
      const { data } = await jsonOf(['webhooks', 'deliveries', id, '--status', 'failed', '--json']);
      return data[0];
    });
    const log = await outputOf(['webhooks', 'deliveries', id, '--status', 'failed', '--reason', 'connect']);
    const delivery = await outputOf(['webhooks', 'delivery', id, failed.id]);
    const redelivered = await outputOf(['webhooks', 'redeliver', id, failed.id]);
    const recovered = await outputOf(['webhooks', 'recover', id, '--since', '1h', '--dry-run']);
    const doctor = await run('doctor');
    const disabled = await jsonOf(['webhooks', 'update', id, '--disable', '--json']);
    const deleted = await run(['webhooks', 'delete', id]);

    assert.match(created.stderr, /Keep the secret now/);
    assert.match(secret, /^whsec_/);
    assert.match(list, /^webhook +state +failures +events +url\n/);
    assert.ok(list.endsWith(`\n${id}  active  0         webhook.test  ${url}\n`));
    assert.equal(updated.max_per_second, 5);
    assert.deepEqual([nothing.code, rotated.code], [2, 0]);
    assert.match(rotated.stdout, /^secret +whsec_/m);
    assert.match(tested, /^evt_\w+ {2}transcription\.completed\n$/);
    assert.match(log, /\ndlv_\w+ +failed +1 +connect +\d+ ms +transcription\.completed/);
    assert.match(delivery, /^error +connect: .*\(ECONNREFUSED\)\.\ntook +\d+ ms\n/m);
    assert.equal(redelivered, '1 events are sent again\n');
    assert.match(recovered, /^\d+ events would be sent again\n$/);
    assert.equal(doctor.code, 0, doctor.stdout);
    assert.match(
      doctor.stdout,
      /^warn {2}webhook wh_\w+ failed \d+ times in a row \(connect\): .*\n +fix: .*webhooks recover/m,
    );
    assert.equal(disabled.active, false);
    assert.deepEqual([deleted.code, deleted.stderr], [0, `${id} is deleted\n`]);
    assert.equal((await run(['webhooks', 'get', id])).code, 5);
  });

  test('events are listed, shown with all digits, and sent to a server of this machine', async (t) => {
    const received: { headers: http.IncomingHttpHeaders; body: string }[] = [];
    const server = http.createServer(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync<Buffer>(request)).toString();
      received.push({ headers: request.headers, body });
      response.writeHead(request.url === '/bad' ? 500 : 204).end();
    });
    t.after(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const more = { env: { VERBATIM_WEBHOOK_SECRET: secret } };
    const id = (await outputOf(['transcribe', wav, '-q', '--metadata', METADATA])).trim();

    const event = (await outputOf(['events', 'list', '--job', id, '-q'])).trim();
    const shown = await outputOf(['events', 'get', event, '--json']);
    const resent = await run(['events', 'resend', event, '--to', `${target}/hooks`], more);
    const refused = await run(['trigger', 'transcription.failed', '--to', `${target}/bad`], more);
    const words = [
      'trigger',
      'transcription.completed',
      '--to',
      target,
      '--set',
      'data.job.text=hi',
      '--set',
      'data.job.cost=2',
    ];
    const triggered = await run(words, more);

    assert.match(shown, /"order": 12345678901234567890,/);
    assert.equal(resent.code, 0, resent.stderr);
    assert.match(resent.stdout, /^ok {2}transcription\.completed {2}evt_\w+ {2}http:\S+\/hooks {2}answered 204\n$/);
    assert.deepEqual([refused.code, triggered.code], [1, 0]);
    const events = received.map(({ headers, body }) => verifyDelivery({ secret, headers, body }));
    assert.equal(events[0]?.id, event);
    assert.ok(received[0]!.body.includes('"order":12345678901234567890'));
    const { job } = JSON.parse(received[2]!.body).data;
    assert.deepEqual([events[1]?.type, job.text, job.cost], ['transcription.failed', 'hi', 2]);
  });

  for (const [line, code] of [
    ['trigger transcription.completed', 2],
    ['trigger transcription.completed --set a=b', 2],
    ['trigger no.such --to 9', 5],
    ['trigger transcription.completed --to 9 --set __proto__.a=b', 2],
    ['trigger transcription.completed --to ftp://a', 2],
    ['events resend evt_x', 2],
    ['events get evt_x', 5],
    ['webhooks create http://127.0.0.1', 2],
    ['signature explain --webhook wh_x', 5],
  ] as const) {
    test(`"${line}" ends with ${code}`, async () => {
      const { code: found, stdout, stderr } = await run(line, { stdin: 'X-Service-Signature: a\n\n{}' });

      assert.deepEqual([found, stdout], [code, ''], stderr);
    });
  }
});

describe('signing in', () => {
  test('init writes a profile that later commands use', async () => {
    const XDG_CONFIG_HOME = path.join(folder, 'config');
    const bare = { VERBATIM_API_KEY: '', VERBATIM_URL: '', XDG_CONFIG_HOME };
    const keyFile = path.join(folder, 'key');
    fs.writeFileSync(keyFile, `${env['VERBATIM_API_KEY']}\n`);
    const words = ['init', '--url', service.baseUrl];

    const wrong = await run([...words, '--api-key-file', '-'], { env: bare, stdin: 'vb_wrong\n' });
    const none = await run(words, { env: bare });
    const done = await run([...words, '--api-key-file', keyFile, '--sample', wav], { env: bare });
    const me = await run('whoami', { env: bare });
    const made = await run([...words, '--create-account', 'Ada', '--profile', 'ada'], { env: bare });
    const ada = await run('whoami --profile ada', { env: bare });

    assert.deepEqual([wrong.code, none.code], [4, 2]);
    assert.match(none.stderr, /No terminal to ask on: give --api-key-file/);
    assert.deepEqual([done.code, done.stdout], [0, `You are test (pro) at ${service.baseUrl}\n`]);
    assert.match(done.stderr, /profiles\.json\njob_\w+: Good morning\n$/);
    assert.match(me.stdout, /profile +default\n/);
    assert.equal(made.code, 0, made.stderr);
    assert.match(ada.stdout, /^account +Ada \(acct_/);
    assert.ok(![done, made].some(({ stdout, stderr }) => /vb_/.test(stdout + stderr)));
    assert.equal(fs.statSync(path.join(XDG_CONFIG_HOME, 'verbatim/profiles.json')).mode & 0o777, 0o600);
  });

  test('doctor finds what is wrong', async () => {
    const good = await run('doctor --json');
    const unknown = await run('doctor', { env: { VERBATIM_API_KEY: 'vb_unknown' } });
    const noKey = await run('doctor', { env: { VERBATIM_API_KEY: '' } });
    const nothing = await run('doctor', { env: { VERBATIM_URL: 'http://127.0.0.1:65535' } });

    assert.equal(good.code, 0, good.stdout);
    assert.ok(JSON.parse(good.stdout).every(({ result }: { result: string }) => result === 'ok'));
    assert.deepEqual([unknown.code, noKey.code, nothing.code], [1, 1, 1]);
    assert.match(unknown.stdout, /^fail {2}.*\n +fix: verbatim init\n$/m);
    assert.match(noKey.stdout, /^fail {2}no API key for/m);
    assert.match(nothing.stdout, /^fail {2}nothing answers at http:\/\/127\.0\.0\.1:65535 \(ECONNREFUSED\)\n/m);
  });

  test('open prints the address of an object, and starts the program that BROWSER names', async () => {
    const log = path.join(folder, 'opened');
    const browser = path.join(folder, 'browser');
    fs.writeFileSync(browser, `#!/bin/sh\necho "$1" > ${log}.new && mv ${log}.new ${log}\n`, { mode: 0o755 });

    assert.equal(await outputOf('open job_1 --print'), `${service.baseUrl}/#/jobs/job_1\n`);
    assert.equal((await run('open ../secret')).code, 2);
    await outputOf('open', { env: { BROWSER: browser } });
    const opened = await until('the browser', () => fs.existsSync(log) && fs.readFileSync(log, 'utf8'));

    assert.equal(opened, `${service.baseUrl}/\n`);
  });

  test('search finds words, and settings shows those of the service', async () => {
    await outputOf(['transcribe', wav]);

    const found = await outputOf('search morning --limit 1 --color always');

    assert.match(
      found,
      /job_\w+\u001b\[22m {2}call\.wav {2}.*\n\u001b\[2m {2}0:00 {2}\u001b\[22mGood \u001b\[1mmorning\u001b\[22m\n$/,
    );
    assert.match(await outputOf('settings --changed'), /^RATE_LIMIT_TRANSCRIBE +off$/m);
  });
});

describe('the program as a process', () => {
  const start = (args: string[], stdio: StdioOptions = ['pipe', 'pipe', 'pipe']) =>
    spawn(process.execPath, [path.join(import.meta.dirname, '../../bin/verbatim'), ...args], {
      stdio,
      env: { ...process.env, XDG_CONFIG_HOME: folder, ...env },
    });
  const textOf = async (stream: Readable | null) => {
    let text = '';
    for await (const chunk of stream!) text += chunk;
    return text;
  };

  test('Ctrl-C in the middle of an upload ends with 130, and no job is made', async () => {
    const before = await outputOf('jobs list --all -q');
    const child = start(['transcribe', '-', '--name', 'endless.wav']);
    const ended = once(child, 'close');
    const stderr = textOf(child.stderr);
    // More than the pipe holds: the program has begun to send it.
    child.stdin!.on('error', () => undefined);
    await new Promise((resolve) => child.stdin!.write(Buffer.concat([toneWav('abc'), Buffer.alloc(8 << 20)]), resolve));

    child.kill('SIGINT');

    assert.deepEqual(await ended, [130, null]);
    assert.equal(await stderr, 'verbatim: interrupted\n');
    assert.equal(await outputOf('jobs list --all -q'), before);
  });

  test('a reader that goes away ends a list quietly', async () => {
    const child = start(['jobs', 'list', '--all', '--json']);
    const ended = once(child, 'close');
    const stderr = textOf(child.stderr);
    child.stdout!.destroy();

    assert.deepEqual(await ended, [0, null]);
    assert.equal(await stderr, '');
  });
});
