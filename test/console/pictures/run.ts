// Makes the pictures of the console's pages: node test/console/pictures/run.ts [--out FOLDER] [--only jobs,job] Without
// --out it writes the pictures that the docs show and the layouts that the test compares with.
import { parseArgs } from 'node:util';
import { findChromium, openBrowser } from '../harness/browser.ts';
import { keep } from './kept.ts';
import { openSeeded } from './seed.ts';
import { visitPages } from './take.ts';

const { values } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } });
const chromium = findChromium();
if (chromium === null) throw new Error('Install Chromium, or name one in CHROMIUM.');
await using seeded = await openSeeded();
await using browser = await openBrowser(chromium);
const names = values.only?.split(',');
if (values.out === undefined) await keep((folder) => visitPages(browser, seeded, { folder, names }));
else await visitPages(browser, seeded, { folder: values.out, names });
