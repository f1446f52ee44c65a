import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';

/** site.css, below the tokens that it shares with the console. */
export function readSiteStyles(): string {
  return ['console/styles/tokens.css', 'src/http/docs/site.css']
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('\n');
}
