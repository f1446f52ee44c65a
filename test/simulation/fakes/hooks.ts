import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Break } from '../planted-bugs.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The network and the decoder are the simulator's: what the simulation puts in their place. */
const REPLACED: Record<string, string> = {
  'src/webhooks/http-client/post.ts': 'test/simulation/fakes/post.ts',
  'src/audio/media/decode.ts': 'test/simulation/fakes/decode.ts',
};

/**
 * Puts the simulation's stand-ins in place, and breaks the code on purpose when asked to, as it is loaded.
 * @throws Error  when the code that a break would change is no longer there
 */
export function hookModules(broken: Break | null): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const replacement = REPLACED[pathOf(found.url)];
      return replacement ? { ...found, url: new URL(`file://${ROOT}${replacement}`).href } : found;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      const changes = broken?.changes.filter((change) => pathOf(url) === change.file) ?? [];
      if (changes.length === 0) return loaded;
      return { ...loaded, source: changes.reduce((text, change) => applied(text, change), String(loaded.source)) };
    },
  });
}

function applied(text: string, { file, find, replace }: Break['changes'][number]): string {
  if (!text.includes(find)) throw new Error(`${file} no longer says: ${find}`);
  return text.replaceAll(find, () => replace);
}

function pathOf(url: string): string {
  return url.startsWith(`file://${ROOT}`) ? url.slice(`file://${ROOT}`.length) : '';
}
