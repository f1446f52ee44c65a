import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { PlantedBug } from '../planted-bug.ts';
import { SMALLER_LIMITS } from '../smaller-limits.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Modules that the simulation replaces: the network, and what reads audio files. */
const REPLACED: Record<string, string> = {
  'src/webhooks/http-client/post.ts': 'test/simulation/fakes/post.ts',
  'src/audio/media/decode.ts': 'test/simulation/fakes/decode.ts',
  'src/audio/media/cut-off.ts': 'test/simulation/fakes/cut-off.ts',
};

/**
 * Replaces modules by the simulation's fakes as they are loaded, makes limits smaller, and adds a planted bug if one is
 * given.
 * @throws Error  when the code that the bug replaces is no longer there
 */
export function hookModules(bug: PlantedBug | null): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const replacement = REPLACED[pathOf(found.url)];
      return replacement ? { ...found, url: new URL(`file://${ROOT}${replacement}`).href } : found;
    },
  });
  changeCode([...SMALLER_LIMITS, ...(bug?.changes ?? [])]);
}

/** Changes the code of modules as they are loaded. @throws Error  when the code that is replaced is no longer there */
export function changeCode(all: PlantedBug['changes']): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const changes = all.filter((change) => pathOf(url) === change.file);
      if (changes.length === 0) return loaded;
      return { ...loaded, source: changes.reduce((text, change) => applied(text, change), String(loaded.source)) };
    },
  });
}

/** The text after a change. @throws Error  when the code that is replaced is no longer there */
export function applied(text: string, { file, find, replace }: PlantedBug['changes'][number]): string {
  if (!text.includes(find)) throw new Error(`${file} no longer contains: ${find}`);
  return text.replaceAll(find, () => replace);
}

function pathOf(url: string): string {
  return url.startsWith(`file://${ROOT}`) ? url.slice(`file://${ROOT}`.length) : '';
}
