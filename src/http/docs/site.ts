import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ROOT } from '../../platform/installation.ts';
import { type Entry, REFERENCE_NAME } from './contents.ts';
import { type Frame, groupsWith, writePage } from './layout.ts';
import { type Rendered, renderMarkdown } from './markdown.ts';
import { SEARCH_OPTIONS } from './search-options.ts';
import { SEARCH_WORDS } from './search-words.ts';

type SiteOptions = { base: string; version: string; inService: boolean };

/**
 * A section of a page, as the search of the browser gets it: address, title of the page, heading, other words for it,
 * text.
 */
export type SearchEntry = { url: string; page: string; heading: string; words: string; text: string };

const DECISIONS = 'docs/decisions';
const IMAGES = 'docs/images';
const REFERENCE_DESCRIPTION = 'Every endpoint with its parameters and answers, to read and to try.';

/**
 * The documentation as a site: the Markdown of the project in one frame, in the order of `CONTENTS`. A page is rendered
 * when it is asked for the first time.
 */
export class DocsSite {
  readonly #frame: Frame;
  readonly #files: Map<string, string>;
  readonly #names: Map<string, string>;
  readonly #rendered = new Map<string, Promise<Rendered>>();

  readonly #renderPage: typeof renderMarkdown;

  constructor(options: SiteOptions, render = renderMarkdown) {
    this.#renderPage = render;
    const groups = groupsWith(({ file }) => (file === null ? options.inService : existsSync(path.join(ROOT, file))));
    this.#frame = { ...options, groups };
    const listed = groups.flatMap(({ entries }) => entries).filter(({ file }) => file !== null);
    const decisions = namesIn(DECISIONS, /^\d{4}-.*\.md$/).map((name): [string, string] => [
      `decisions/${path.basename(name, '.md')}`,
      `${DECISIONS}/${name}`,
    ]);
    this.#files = new Map([...listed.map(({ name, file }): [string, string] => [name, file!]), ...decisions]);
    this.#names = new Map([...this.#files].map(([name, file]) => [file, name]));
  }

  /** Of all pages but the API reference. */
  get pageNames(): string[] {
    return [...this.#files.keys()];
  }

  get imageNames(): string[] {
    return namesIn(IMAGES, /\.webp$/);
  }

  /** A page as HTML; null when there is none of this name. */
  async page(name: string): Promise<string | null> {
    const file = this.#files.get(name);
    if (file === undefined) return null;
    const { title, summary, html, headings } = await this.#render(file);
    const description = describe(this.#entry(name)) ?? summary;
    return writePage(this.#frame, { name, title, description, html, headings });
  }

  /** The frame of the sites around the API reference. @param head  tags for what the reference loads */
  referencePage(html: string, head: string): string {
    const [title, description] = ['API reference', REFERENCE_DESCRIPTION];
    return writePage(this.#frame, { name: REFERENCE_NAME, title, description, html, headings: [], head });
  }

  /** All sections of all pages. */
  async searchEntries(): Promise<SearchEntry[]> {
    const entries: SearchEntry[] = [];
    for (const [name, file] of this.#files) {
      const { title, sections } = await this.#render(file);
      for (const { id, heading, text } of sections) {
        const words = (SEARCH_WORDS[id === '' ? name : `${name}#${id}`] ?? []).join('; ');
        entries.push({ url: this.#address(name, id), page: title, heading: id === '' ? '' : heading, words, text });
      }
      // Other requests are answered between two pages.
      await setImmediate();
    }
    return entries;
  }

  /** What the search of the browser loads: how to index, and all sections. */
  async searchFile(): Promise<{ options: typeof SEARCH_OPTIONS; sections: SearchEntry[] }> {
    return { options: SEARCH_OPTIONS, sections: await this.searchEntries() };
  }

  #render(file: string): Promise<Rendered> {
    const known = this.#rendered.get(file);
    if (known) return known;
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const rendering = this.#renderPage(file, text, (target) => this.#resolve(target));
    this.#rendered.set(file, rendering);
    // The next request tries again: a file may have been away.
    rendering.catch(() => this.#rendered.delete(file));
    return rendering;
  }

  /** @param file  path from the project's root, of a page, an image, or a folder with a page */
  #resolve(file: string): string | null {
    if (file.startsWith(`${IMAGES}/`)) return `${this.#frame.base}/images/${path.basename(file)}`;
    // The first page of the project on a code host; here it is that of the site.
    if (file === 'README.md') return this.#address('');
    const name = this.#names.get(file) ?? this.#names.get(path.posix.join(file, 'README.md'));
    return name === undefined ? null : this.#address(name);
  }

  #address(name: string, id = ''): string {
    return `${this.#frame.base}/${name}${id && `#${id}`}`;
  }

  #entry(name: string): Entry | undefined {
    return this.#frame.groups.flatMap(({ entries }) => entries).find((entry) => entry.name === name);
  }
}

/** An image of the documentation; null when there is none of this name. */
export function readImage(name: string): Buffer | null {
  return namesIn(IMAGES, /\.webp$/).includes(name) ? readFileSync(path.join(ROOT, IMAGES, name)) : null;
}

function namesIn(folder: string, pattern: RegExp): string[] {
  const place = path.join(ROOT, folder);
  return existsSync(place) ? readdirSync(place).filter((name) => pattern.test(name)) : [];
}

function describe(entry: Entry | undefined): string | null {
  return entry ? `Verbatim, self-hosted transcription: ${entry.need}.` : null;
}
