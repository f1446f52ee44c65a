import { CONTENTS, type Entry, type Group } from './contents.ts';
import { escapeHtml, type Heading } from './markdown.ts';

/** What all pages of a site share. */
export type Frame = {
  /** Address of the site, without a slash at the end: `/docs`. */
  base: string;
  version: string;
  /** The entries that the site has. */
  groups: Group[];
  /** Whether the site is part of a service, with its console at `/`. */
  inService: boolean;
};

export type PageParts = {
  /** Under the base: `jobs`; empty for the front page. */
  name: string;
  title: string;
  description: string;
  html: string;
  headings: Heading[];
  /** Of what the page loads beyond the site's own files. */
  head?: string;
};

/** A page of the site, whole. It has no inline code and no inline styles, and only the search needs a script. */
export function writePage(frame: Frame, { name, title, description, html, headings, head = '' }: PageParts): string {
  const { base, version } = frame;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Verbatim</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/site.css">${head}
<script type="module" src="${base}/search.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="brand" href="${base}/">Verbatim</a>
<a class="version" href="${base}/versions" title="Other versions">${escapeHtml(version)}</a>
<div class="search" id="search" data-base="${base}"></div>
${frame.inService ? `<nav aria-label="Service"><a href="/">Console</a><a href="${base}/api">API</a></nav>` : ''}
<label class="menu" for="menu">Menu</label>
</header>
<input type="checkbox" id="menu" aria-label="Show the menu">
<div class="${head ? 'wide columns' : 'columns'}">
<nav class="pages" aria-label="Pages">
${frame.groups.map((group) => writeGroup(base, group, name)).join('\n')}
</nav>
<main id="content" tabindex="-1">
<h1>${escapeHtml(title)}</h1>
${html}
${writeNeighbours(frame, name)}
</main>
${writeOutline(headings)}
</div>
</body>
</html>
`;
}

function writeGroup(base: string, { title, entries }: Group, current: string): string {
  const items = entries.map(({ name, label }) => {
    const here = name === current ? ' aria-current="page"' : '';
    return `<li><a href="${base}/${name}"${here}>${escapeHtml(label)}</a></li>`;
  });
  return `<h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
}

/** The sections of a long page. */
function writeOutline(headings: Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return '';
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="outline" aria-label="On this page">
<h2>On this page</h2>
<ul>
${items.join('\n')}
</ul>
</nav>`;
}

function writeNeighbours({ base, groups }: Frame, name: string): string {
  const entries = groups.flatMap((group) => group.entries);
  const index = entries.findIndex((entry) => entry.name === name);
  if (index < 0) return '';
  const link = (rel: string, entry: Entry | undefined) =>
    entry ? `<a rel="${rel}" href="${base}/${entry.name}">${escapeHtml(entry.label)}</a>` : '<span></span>';
  const links = [link('prev', entries[index - 1]), link('next', entries[index + 1])];
  return `<nav class="neighbours" aria-label="Neighbouring pages">${links.join('')}</nav>`;
}

/** The groups with those entries only that `has` is true of. */
export function groupsWith(has: (entry: Entry) => boolean): Group[] {
  return CONTENTS.map(({ title, entries }) => ({ title, entries: entries.filter(has) })).filter(
    ({ entries }) => entries.length > 0,
  );
}
