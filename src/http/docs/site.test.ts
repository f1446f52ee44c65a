import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT } from '../../platform/installation.ts';
import { CONTENTS } from './contents.ts';
import { renderMarkdown } from './markdown.ts';
import { DocsSite } from './site.ts';

const site = new DocsSite({ base: '/docs', version: '1.2.3', inService: true });
const pages = new Map(
  await Promise.all(
    site.pageNames.map(async (name): Promise<[string, string]> => [`/docs/${name}`, (await site.page(name))!]),
  ),
);
/** Served, and no pages of Markdown. */
const OTHERS = /^\/(docs\/(api|site\.css|search\.js|images\/[\w-]+\.webp))?$/;

test('every page of docs/ is in the list, or it is a decision', () => {
  const listed = CONTENTS.flatMap(({ entries }) => entries).map(({ file }) => file);

  assert.deepEqual(
    globSync('docs/*.md', { cwd: ROOT }).filter((file) => !listed.includes(file)),
    [],
  );
});

test('every link of a page leads to a page and to a heading that is there', () => {
  const links = [...pages].flatMap(([url, html]) =>
    [...html.matchAll(/<(?:a|link|img|script)[^>]* (?:href|src)="([^":]+)"/g)].map(([, href]) => ({
      url,
      href: href!,
    })),
  );

  const dead = links.filter(({ url, href }) => {
    const [page, id] = (href.startsWith('#') ? `${url}${href}` : href).split('#');
    return !OTHERS.test(page!) && !(id ? pages.get(page!)?.includes(` id="${id}"`) : pages.has(page!));
  });

  assert.ok(links.length > 3_000);
  assert.deepEqual(dead, []);
});

test('every page has a title, a description and one heading above all, and nothing that its policy forbids', () => {
  for (const [url, html] of pages) {
    assert.match(html, /<title>\S.* · Verbatim<\/title>\n<meta name="description" content="\S[^"]{10,}">/, url);
    assert.equal(html.match(/<h1/g)?.length, 1, url);
    assert.doesNotMatch(html, /<style|<script(?![^>]* src=")|<[^>]+ (style|on\w+)="/, url);
  }
});

test('a page that could not be rendered is rendered at the next request', async () => {
  let failures = 1;
  const flaky = new DocsSite({ base: '/docs', version: '1.2.3', inService: true }, async (file, text, resolve) => {
    if (failures-- > 0) throw new Error('the language of a code block cannot be loaded');
    return await renderMarkdown(file, text, resolve);
  });

  await assert.rejects(flaky.page('jobs'), /cannot be loaded/);
  assert.equal(await flaky.page('jobs'), pages.get('/docs/jobs'));
});

test('the page of the sidebar that one reads is marked', async () => {
  assert.match((await site.page('jobs'))!, /<a href="\/docs\/jobs" aria-current="page">Jobs<\/a>/);
});

test('the search finds every section of a page by its address', async () => {
  const entries = await site.searchEntries();

  const errors = entries.filter(({ page }) => page === 'Errors');
  assert.equal(errors[0]!.url, '/docs/errors');
  assert.deepEqual(
    errors.find(({ heading }) => heading === 'not_found'),
    { ...errors.find(({ url }) => url === '/docs/errors#not_found') },
  );
  assert.equal(new Set(entries.map(({ url }) => url)).size, entries.length);
});

test('a static site has no links into a service', async () => {
  const page = (await new DocsSite({ base: '/v', version: '1.2.3', inService: false }).page('jobs'))!;

  assert.doesNotMatch(page, /href="\/(docs|")|\/api"/);
  assert.match(page, /<a href="\/v\/errors">/);
});

test('Markdown becomes HTML with the links, ids and names of a code host', async () => {
  const text = [
    '# A `title` & more',
    '<!-- Generated. -->',
    'First sentence. Second.',
    '## What is it?',
    '[a](b.md#c) [d](../src/e.ts) <b>x</b>',
    '## What is it?',
    '```sh',
    'echo "<x>" # done',
    '```',
    '| a |\n|---|\n| 1 |',
  ].join('\n\n');

  const { title, summary, html, headings } = await renderMarkdown(
    'docs/x.md',
    text.replace('```sh\n\n', '```sh\n'),
    (file) => (file === 'docs/b.md' ? '/docs/b' : null),
  );

  assert.equal(title, 'A title & more');
  assert.equal(summary, 'First sentence. Second.');
  assert.deepEqual(
    headings.map(({ id }) => id),
    ['what-is-it', 'what-is-it-1'],
  );
  assert.match(html, /<p><a href="\/docs\/b#c">a<\/a> d <b>x<\/b><\/p>/);
  assert.match(html, /<span class="code-str">&quot;&lt;x>&quot;<\/span>/);
  assert.match(html, /<div class="table" tabindex="0"><table>/);
  assert.doesNotMatch(html, /Generated|<h1/);
});
