import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DocsSite, readImage } from '../src/http/docs/site.ts';
import { readSiteStyles } from '../src/http/docs/styles.ts';

// Writes the documentation as a static site: node scripts/build-docs.ts <folder> [--base /docs]. The pages go into
// <folder>/<version>/, beside those of other versions, and <folder>/index.html lists the versions that are there.

const ROOT = path.join(import.meta.dirname, '..');

/** @returns the number of files, and the folder of this version */
async function buildDocs(folder: string, base: string): Promise<{ files: number; target: string }> {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const target = path.join(folder, version);
  const site = new DocsSite({ base: `${base}/${version}`, version, inService: false });
  const files = new Map<string, string | Buffer>();
  for (const name of site.pageNames) files.set(path.join(name, 'index.html'), (await site.page(name))!);
  for (const name of site.imageNames) files.set(path.join('images', name), readImage(name)!);
  files.set('search.json', JSON.stringify(await site.searchFile()));
  files.set('minisearch.js', readFileSync(fileURLToPath(import.meta.resolve('minisearch'))));
  files.set('site.css', readSiteStyles());
  files.set('search.js', readFileSync(path.join(ROOT, 'src/http/docs/search.js')));
  for (const [name, content] of files) {
    mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    writeFileSync(path.join(target, name), content);
  }
  writeFileSync(path.join(folder, 'index.html'), listVersions(folder, base));
  return { files: files.size, target };
}

/** The newest version first. */
function listVersions(folder: string, base: string): string {
  const versions = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d+\.\d+\.\d+/.test(entry.name))
    .map(({ name }) => name)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const items = versions.map((version) => `<li><a href="${base}/${version}/">${version}</a></li>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verbatim: versions of the documentation</title>
<link rel="stylesheet" href="${base}/${versions[0]}/site.css">
<main><h1>Documentation of Verbatim</h1>
<ul>
${items.join('\n')}
</ul></main>
</html>
`;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { base: { type: 'string', default: '' } },
  });
  if (positionals.length !== 1) throw new Error('Usage: node scripts/build-docs.ts <folder> [--base /docs]');
  const { files, target } = await buildDocs(positionals[0]!, values.base.replace(/\/$/, ''));
  process.stdout.write(`${files} files in ${target}\n`);
}
