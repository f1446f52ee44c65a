import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { VerbatimAdmin } from '../../sdk/src/client/index.ts';
import { until } from '../fixtures/until.ts';
import { toneFile } from './harness/fixture.ts';
import type { Flow, FlowContext } from './harness/flow.ts';
import { findInterpreted, marked, shownMarks } from './harness/markup.ts';
import { signInWithKey } from './harness/sign-in.ts';

// Texts of strangers that contain markup: no view of the console interprets it, and no script in it runs. An attempt of
// the browser to run one violates the policy, which fails each flow.

/** An account in which all that a stranger can name is marked. */
async function fillWithMarks({ service, failing, account }: FlowContext) {
  const admin = new VerbatimAdmin({ baseUrl: service.baseUrl, adminToken: service.adminToken });
  const { id, key, api } = await account({ credits: 500 });
  await admin.accounts.update(id, { name: marked('account') });
  await admin.accounts.addCredits(id, { amount: 5, note: marked('note') });
  await api.keys.create({ name: marked('key') });
  const edited = await api.transcribe(toneFile('world', `${marked('file')}.wav`));
  await api.jobs.editTranscript(edited.id, [{ index: 0, text: marked('edited') }]);
  const { id: webhookId } = await api.webhooks.create({
    url: `${failing.urls.markup}?q=${marked('url').replaceAll(' ', '/')}`,
    events: ['transcription.completed'],
    description: marked('description'),
    headers: { 'X-Mark': marked('header') },
  });
  const job = await api.transcribe(toneFile('hello world', `${marked('file')}.wav`), {
    metadataText: JSON.stringify({ [marked('name')]: marked('metadata') }),
    replacements: [{ from: 'hello', to: marked('text') }],
    timestamps: 'word',
  });
  const attempt = await until('an attempt', async () => {
    const { data } = await api.webhooks.deliveries(webhookId, { status: 'failed' });
    return data[0];
  });
  const attemptPlace = `/webhooks/${webhookId}/deliveries/${attempt.id}`;
  return { id, key, webhookId, jobId: job.id, editedId: edited.id, eventId: attempt.event_id, attempt, attemptPlace };
}

type Filled = Awaited<ReturnType<typeof fillWithMarks>>;
/** A view, and the marks that it shows. */
type View = readonly [place: string, ...marks: string[]];

const inAddress = (what: string) => encodeURIComponent(marked(what));

const VIEWS = ({ jobId, editedId, webhookId, eventId, attempt, attemptPlace }: Filled): View[] => [
  ['/', 'account', 'file'],
  ['/transcribe', 'account'],
  ['/jobs', 'file', 'text'],
  [`/jobs?query=${inAddress('query')}`, 'query'],
  [`/jobs?status=${inAddress('filter')}`],
  [`/jobs/${jobId}`, 'file', 'text'],
  [`/jobs/${jobId}?tab=captions`, 'text'],
  [`/jobs/${jobId}?tab=details`, 'file'],
  [`/jobs/${jobId}?tab=metadata`, 'name', 'metadata'],
  [`/jobs/${jobId}?tab=events`],
  [`/jobs/${jobId}?tab=json`, 'file', 'text', 'name', 'metadata'],
  [`/jobs/${editedId}`, 'edited'],
  [`/jobs/${inAddress('id')}`, 'id'],
  ['/search?q=probe', 'file', 'text', 'edited'],
  [`/search?q=${inAddress('words')}`, 'words'],
  ['/webhooks', 'description', 'url'],
  ['/webhooks/missing'],
  ...['overview', 'log', 'secret', 'recover', 'test'].map((tab) => [`/webhooks/${webhookId}?tab=${tab}`] as const),
  [`/webhooks/${webhookId}?tab=settings`, 'description', 'url'],
  [attemptPlace, 'url', 'answer header', 'answer body', 'text', 'file'],
  ['/deliveries'],
  ['/events'],
  [`/events/${eventId}`, 'text', 'file', 'metadata'],
  [`/debugger?webhook=${webhookId}&delivery=${attempt.id}`, 'text', 'file', 'metadata'],
  ['/usage?group_by=key'],
  ['/usage?tab=ledger', 'note'],
  ['/keys', 'key'],
  ['/start'],
  [`/${inAddress('path')}`],
];

const OPERATOR_VIEWS = ({ id }: Filled): View[] => [
  ['/operator'],
  ['/operator/accounts', 'account'],
  [`/operator/accounts/${id}`, 'account'],
  [`/operator/accounts/${id}?tab=keys`, 'key'],
  [`/operator/accounts/${id}?tab=ledger`, 'note'],
  ...['usage', 'jobs', 'webhooks', 'portal'].map((tab) => [`/operator/accounts/${id}?tab=${tab}`, 'account'] as const),
  ['/operator/jobs'],
  ['/operator/webhooks'],
  ['/operator/models'],
  [`/operator/settings?query=${inAddress('setting')}`],
  [`/operator/audit?account_id=${id}`],
  [`/operator/audit?account_id=${inAddress('id')}`, 'id'],
];

/**
 * Opens a view, and waits until it shows these marks. A view without marks is loaded anew, to know when it is there.
 */
async function look(page: Page, [place, ...marks]: View): Promise<void> {
  if (marks.length === 0) {
    await page.goto('/healthz');
    await page.goto(`/#${place}`);
  } else {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, place);
  }
  await page.locator('main:has(h1):not(:has(.loading))').waitFor();
  await expectMarks(page, place, marks);
}

/** Waits until the page shows these marks, and asserts that it shows them as text. */
async function expectMarks(page: Page, where: string, marks: readonly string[]): Promise<void> {
  await until(`${where} to show ${marks.join(', ')}`, async () => {
    const shown = await shownMarks(page);
    return marks.every((mark) => shown.has(mark));
  });
  assert.deepEqual(await findInterpreted(page), [], where);
}

export const flows: Flow[] = [
  {
    title: 'markup in texts of strangers is text in every view',
    async run(flow) {
      const { page, open, openAsOperator } = flow;
      const filled = await fillWithMarks(flow);
      await open(filled.key, '/');
      for (const view of VIEWS(filled)) await look(page, view);
      await openAsOperator('/operator');
      for (const view of OPERATOR_VIEWS(filled)) await look(page, view);
    },
  },
  {
    title: 'markup in dialogs, messages and fields is text',
    async run(flow) {
      const { page, open } = flow;
      const { key, attemptPlace } = await fillWithMarks(flow);

      await page.goto('/#/keys');
      await signInWithKey(page, marked('secret'));
      await page.getByRole('alert').waitFor();
      await expectMarks(page, 'the sign-in', ['secret']);

      await open(key, '/keys');
      await page.getByRole('button', { name: 'Revoke [key]' }).click();
      await page.getByRole('dialog', { name: 'Revoke the key “[key]' }).waitFor();
      await expectMarks(page, 'a question', ['key']);
      await page.keyboard.press('Escape');

      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox', { name: 'View, command' }).fill(marked('palette'));
      await expectMarks(page, 'the palette', ['palette']);
      // The first one empties the field.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');

      await look(page, [attemptPlace, 'answer body']);
      await page.getByRole('button', { name: 'As curl' }).click();
      await page.getByRole('region', { name: 'Commands' }).waitFor();
      await expectMarks(page, 'the commands', ['text', 'metadata']);
      await page.keyboard.press('Escape');

      await look(page, ['/transcribe']);
      const [file] = [toneFile('hello', `${marked('upload')}.wav`)];
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({
          name: file.name,
          mimeType: 'audio/wav',
          buffer: Buffer.from(await file.arrayBuffer()),
        });
      await page.getByText('Words, track, metadata').click();
      await page.getByLabel('Replacements').fill(marked('replacement').replaceAll('=', ''));
      await page.getByLabel('Metadata').fill(marked('json'));
      await expectMarks(page, 'the form', ['upload', 'json']);

      await look(page, ['/debugger']);
      await page.getByLabel('Request').fill(`X-Mark: ${marked('pasted')}\n\n${marked('pasted body')}`);
      await page.getByLabel('Secret', { exact: true }).fill('');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByRole('alert').waitFor();
      await expectMarks(page, 'the debugger', ['pasted', 'pasted body']);
    },
  },
  {
    title: 'markup in names of speakers, reasons of failures, open jobs and refusals is text',
    async run(flow) {
      const { page, open } = flow;
      const { key, jobId, editedId } = await fillWithMarks(flow);
      await page.route(`**/v1/jobs/${jobId}`, async (route) => {
        const job = (await (await route.fetch()).json()) as { segments: { speaker: string }[] };
        for (const segment of job.segments) segment.speaker = marked('speaker');
        await route.fulfill({ json: job });
      });
      await open(key, `/jobs/${jobId}`);
      await expectMarks(page, 'a job with speakers', ['speaker', 'text']);
      await page.unrouteAll();

      const changed = (change: object) => async (route: Parameters<Parameters<Page['route']>[1]>[0]) => {
        await route.fulfill({ json: { ...(await (await route.fetch()).json()), ...change } });
      };
      const error = { type: 'engine_error', message: marked('failure') };
      await page.route(`**/v1/jobs/${editedId}`, changed({ status: 'failed', error, text: null, segments: null }));
      await look(page, [`/jobs/${editedId}`, 'failure']);
      await page.unrouteAll();

      await open(key, '/jobs');
      await page.route(`**/v1/jobs/${editedId}`, changed({ status: 'processing', text: null, segments: null }));
      const segment = {
        index: 0,
        start: 0,
        end: 1,
        text: marked('live'),
        speaker: marked('speaker'),
        confidence: null,
      };
      const body = `event: segment\ndata: ${JSON.stringify(segment)}\n\n`;
      await page.route(`**/v1/jobs/${editedId}/events`, (route) =>
        route.fulfill({ contentType: 'text/event-stream', body }),
      );
      await look(page, [`/jobs/${editedId}`, 'live', 'speaker']);
      await page.unrouteAll();

      const refusal = { message: marked('refusal'), code: 400, type: marked('type') };
      await page.route('**/v1/keys*', (route) =>
        route.fulfill({ status: 400, json: { error: refusal, request_id: marked('request') } }),
      );
      await look(page, ['/keys', 'refusal', 'type', 'request']);
    },
  },
  {
    title: 'markup in what is said in a live session is text',
    async run({ page, account, open }) {
      const { key } = await account({ credits: 10 });
      await page.routeWebSocket('**/v1/live/**', (socket) => {
        const server = socket.connectToServer();
        const mark = (name: string, value: unknown) => (name === 'text' && value ? marked('spoken') : value);
        server.onMessage((message) => socket.send(JSON.stringify(JSON.parse(String(message), mark))));
      });
      await open(key, '/live');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.locator('.live-open').getByText('[spoken]').waitFor();
      await expectMarks(page, 'words that may change', ['spoken']);
      await page.getByRole('log').getByRole('listitem').filter({ hasText: '[spoken]' }).first().waitFor();
      await expectMarks(page, 'segments', ['spoken']);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('status').getByRole('link', { name: /^job_/ }).waitFor();

      const refusal = { message: marked('refusal'), code: 402, type: marked('type') };
      await page.route('**/v1/live', (route) =>
        route.fulfill({ status: 402, json: { error: refusal, request_id: marked('request') } }),
      );
      await page.reload();
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('alert').waitFor();
      await expectMarks(page, 'a session that cannot begin', ['refusal', 'type']);
    },
  },
  {
    title: 'what the API answers to the address bar of a signed-in browser is no page',
    async run(flow) {
      const { page, open } = flow;
      const { key, jobId, webhookId, attempt } = await fillWithMarks(flow);
      await open(key, '/');
      const paths = [
        ...['json', 'text', 'srt', 'vtt', 'md', 'docx', 'pdf'].map(
          (format) => `/v1/jobs/${jobId}/transcript?format=${format}`,
        ),
        ...[`/v1/jobs/${jobId}`, `/v1/jobs/${jobId}/audio`, '/v1/jobs?format=csv', '/v1/ledger?format=csv'],
        ...[`/v1/webhooks/${webhookId}/deliveries/${attempt.id}`, `/v1/jobs/${inAddress('path')}`],
      ];

      for (const path of paths) {
        const answer = await page.request.get(path);
        const headers = answer.headers();
        assert.match(
          headers['content-type']!,
          /^(application\/(json|pdf|vnd\.openxmlformats)|text\/(plain|csv|vtt|markdown)|application\/x-subrip|audio\/)/,
        );
        assert.equal(headers['x-content-type-options'], 'nosniff', path);
        assert.match(headers['content-security-policy']!, /^default-src 'none'/, path);
      }
    },
  },
  {
    title: 'the policy of the console lets no text become markup, and no script run but those of its files',
    allowed: [
      /^policy: (require-trusted-types-for|script-src|connect-src)/,
      /Content Security Policy|TrustedHTML|TrustedScript/,
    ],
    async run({ page, shown, open }) {
      const policy = (await page.request.get('/')).headers()['content-security-policy']!;
      const directives = new Map(policy.split('; ').map((each) => each.split(/ (.*)/).slice(0, 2) as [string, string]));
      assert.equal(directives.get('default-src'), "'none'");
      assert.equal(directives.get('script-src'), "'self'");
      assert.equal(directives.get('style-src'), "'self'");
      assert.equal(directives.get('require-trusted-types-for'), "'script'");
      for (const name of ['base-uri', 'form-action', 'trusted-types'])
        assert.equal(directives.get(name), "'none'", name);
      assert.doesNotMatch(policy, /unsafe|\*|https?:(?!\/\/localhost:3009)|data:/);

      await open(shown.key, '/');
      const results = await page.evaluate(async (markup) => {
        const attempt = async (act: () => unknown) => {
          try {
            await act();
            return 'done';
          } catch (error) {
            return (error as Error).name;
          }
        };
        const image = document.createElement('img');
        return [
          await attempt(() => (document.body.innerHTML = markup)),
          await attempt(() => (document.createElement('script').textContent = 'isProbed=1')),
          // Later: the browser permits it to the test's own code.
          await attempt(() => new Promise((done) => setTimeout(done)).then(() => new Function('isProbed=1')())),
          await attempt(() => setTimeout('isProbed=1' as never)),
          await attempt(() => image.setAttribute('onerror', 'isProbed=1')),
          await attempt(() => fetch('https://elsewhere.example/')),
        ];
      }, marked('policy'));
      assert.deepEqual(results, ['TypeError', 'TypeError', 'EvalError', 'TypeError', 'TypeError', 'TypeError']);
      assert.deepEqual(await findInterpreted(page), []);
    },
  },
];
