import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';

const FOLDER = path.join(ROOT, 'docs');
/** The reference of the API among the pages, made from its document. */
export const REFERENCE_PAGE = 'api.md';

type Page = { name: string; title: string; summary: string };

/** A page of docs/ as Markdown; null when there is none of this name. */
export function readPage(name: string): string | null {
  return pageNames().includes(name) ? readFileSync(path.join(FOLDER, name), 'utf8') : null;
}

/** /llms.txt: what this is, and a list of the pages. */
export function writeIndex(): string {
  const lines = pageNames()
    .map(describePage)
    .map(({ name, title, summary }) => `- [${title}](/docs/${name}): ${summary}`);
  return [
    '# Verbatim',
    '> Self-hosted transcription: audio in, text out, at once or as a durable job, with webhooks that are signed and delivered at least once.',
    'Requests carry an API key in the header X-API-Key. Errors are JSON: decide by `error.type`.',
    `## API\n\n- [Reference](/docs/${REFERENCE_PAGE}): every endpoint with its parameters, and examples in curl, TypeScript and Python\n- [OpenAPI 3.1](/openapi.json): the same for programs`,
    `## Pages\n\n${lines.join('\n')}\n`,
  ].join('\n\n');
}

/** Empty where the service runs without its pages. */
function pageNames(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => /^[a-z-]+\.md$/.test(name)) : [];
}

/** The first heading, and the first sentence of the first paragraph. */
function describePage(name: string): Page {
  const text = readPage(name)!.replace(/<!--[\s\S]*?-->/g, '');
  const [, title = name, rest = ''] = /^# (.*)\n([\s\S]*)/.exec(text) ?? [];
  const [paragraph = ''] = rest.trim().split(/\n\s*\n/);
  const plain = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ');
  const [sentence] = plain.split(/(?<=\.)\s/);
  return { name, title, summary: sentence!.replace(/:$/, '.') };
}
