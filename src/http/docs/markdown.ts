import path from 'node:path';
import { tokenize } from '@speed-highlight/core';
import { Marked, type Token, type Tokens } from 'marked';

export type Heading = { depth: number; id: string; text: string };

/** The text below a heading, for the search. The first section of a page has the id of no heading: ''. */
export type Section = { id: string; heading: string; text: string };

/** A page of Markdown as HTML. `html` has no first heading: the title is apart. */
export type Rendered = { title: string; summary: string; html: string; headings: Heading[]; sections: Section[] };

/** The address of a file that a page names, as in the page; null for a file that the site does not have. */
export type ResolveLink = (file: string) => string | null;

const SUMMARY_CHARACTERS = 155;
const LANGUAGES: Record<string, string> = {
  sh: 'bash',
  js: 'js',
  ts: 'ts',
  python: 'py',
  json: 'json',
  yaml: 'yaml',
  toml: 'toml',
  go: 'go',
  html: 'html',
  sql: 'sql',
  java: 'java',
  http: 'http',
};

/**
 * Renders a page of the documentation. The text is the project's own: HTML in it is kept.
 * @param file  path of the page from the project's root, with `/`: its links are relative to the file
 */
export async function renderMarkdown(file: string, text: string, resolve: ResolveLink): Promise<Rendered> {
  const marked = new Marked({ async: true });
  const tokens = marked.lexer(text);
  const colours = new Map<Token, string>();
  await Promise.all(
    marked.walkTokens(tokens, async (token) => {
      if (token.type === 'code') colours.set(token, await colour(token as Tokens.Code));
    }),
  );
  const ids = makeIds(tokens);
  const follow = (href: string) => followLink(file, href, resolve);
  marked.use({
    renderer: {
      heading(token) {
        const [id, tag] = [ids.get(token)!, `h${token.depth}`];
        const link = `<a class="anchor" href="#${id}">${this.parser.parseInline(token.tokens)}</a>`;
        return `<${tag} id="${id}">${link}</${tag}>\n`;
      },
      code: (token) => `<pre tabindex="0"><code>${colours.get(token)}</code></pre>\n`,
      link({ href, tokens: inner }) {
        const url = follow(href);
        const html = this.parser.parseInline(inner);
        return url === null ? html : `<a href="${escapeHtml(url)}">${html}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escapeHtml(follow(href) ?? href)}" alt="${escapeHtml(alt)}" loading="lazy">`;
      },
      html({ text: html }) {
        if (html.startsWith('<!--')) return '';
        return html.replace(/\b(src|srcset|href)="([^"]+)"/g, (_, name, href) => `${name}="${follow(href) ?? href}"`);
      },
    },
  });
  const [first, ...others] = [...ids.keys()];
  const body = tokens.filter((token) => token !== first);
  const html = marked
    .parser(body)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  const paragraph = body.find(({ type }) => type === 'paragraph');
  return {
    title: first ? plainText([first]) : path.posix.basename(file, '.md'),
    summary: paragraph ? cut(plainText([paragraph]).replace(/^Context\. /, '')) : '',
    html,
    headings: others.map((token) => ({ depth: token.depth, id: ids.get(token)!, text: plainText([token]) })),
    sections: splitSections(tokens, ids),
  };
}

/** At most as much as search engines show. */
function cut(text: string): string {
  return text.length <= SUMMARY_CHARACTERS ? text : `${text.slice(0, text.lastIndexOf(' ', SUMMARY_CHARACTERS))} …`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** The code as HTML, with a class for each kind of word. Other languages are not coloured. */
async function colour({ text, lang = '' }: Tokens.Code): Promise<string> {
  const language = LANGUAGES[lang];
  if (!language) return escapeHtml(text);
  let html = '';
  await tokenize(text, language, (word, kind) => {
    html += kind ? `<span class="code-${kind}">${escapeHtml(word)}</span>` : escapeHtml(word);
  });
  return html;
}

/** The ids that code hosts give headings: links between pages work in both places. */
function makeIds(tokens: Token[]): Map<Tokens.Heading, string> {
  const seen = new Map<string, number>();
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  return new Map(
    headings.map((heading) => {
      const slug = plainText([heading])
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return [heading, count === 0 ? slug : `${slug}-${count}`];
    }),
  );
}

function followLink(file: string, href: string, resolve: ResolveLink): string | null {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [target = '', hash] = href.split('#');
  const url = resolve(path.posix.join(path.posix.dirname(file), target));
  return url === null || hash === undefined ? url : `${url}#${hash}`;
}

function splitSections(tokens: Token[], ids: Map<Tokens.Heading, string>): Section[] {
  const sections: Section[] = [];
  for (const token of tokens) {
    const id = ids.get(token as Tokens.Heading);
    if (id !== undefined) {
      const isTitle = sections.length === 0 && (token as Tokens.Heading).depth === 1;
      sections.push({ id: isTitle ? '' : id, heading: plainText([token]), text: '' });
    } else if (token.type !== 'space' && sections.length > 0) {
      sections.at(-1)!.text += `${plainText([token])} `;
    }
  }
  return sections;
}

/** What a reader sees, without Markdown. */
function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join(' ');
      }
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ');
      if (token.type === 'html' || token.type === 'space' || token.type === 'br') return ' ';
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      return 'text' in token ? (token.text as string) : token.raw;
    })
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}
