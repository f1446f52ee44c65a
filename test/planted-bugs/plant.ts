// Imported before a test file: adds the bug of store-bugs.ts that PLANTED_BUG names to the source of its module.
import { registerHooks } from 'node:module';
import { STORE_BUGS } from './store-bugs.ts';

const bug = STORE_BUGS.find(({ name }) => name === process.env['PLANTED_BUG']);
if (!bug) throw new Error('PLANTED_BUG names no planted bug.');
const { file, original, changed } = bug;
const { href } = new URL(`../../${file}`, import.meta.url);

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== href) return loaded;
    return { ...loaded, source: String(loaded.source).replace(original, () => changed) };
  },
});
