import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Change } from '../planted-bug.ts';
import { SMALLER_LIMITS } from '../smaller-limits.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Modules that the simulation replaces: the network, and what reads audio files. */
const REPLACED: Record<string, string> = {
  'src/webhooks/http-client/post.ts': 'test/simulation/fakes/post.ts',
  'src/audio/decode/decode.ts': 'test/simulation/fakes/decode.ts',
  'src/audio/media/cut-off.ts': 'test/simulation/fakes/cut-off.ts',
};
/** A module with this query is the one that a changed module is made from. */
const ORIGINAL = '?original';

let all: Change[] = [];

/** Replaces modules by the simulation's fakes as they are loaded, makes limits smaller, and plants the bug. */
export function hookModules(changes: Change[]): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const replacement = REPLACED[pathOf(found.url)];
      return replacement ? { ...found, url: new URL(`file://${ROOT}${replacement}`).href } : found;
    },
  });
  changeModules([...SMALLER_LIMITS, ...changes]);
}

/** Changes exports of modules as they are loaded. Several changes of one export follow each other. */
export function changeModules(changes: Change[]): void {
  all = changes;
  registerHooks({
    load(url, context, next) {
      const file = pathOf(url);
      const names = new Set(changes.flatMap((change) => (change.file === file ? Object.keys(change.exports) : [])));
      if (names.size === 0) return next(url, context);
      const source = `import * as original from '${url}${ORIGINAL}';
        import { changed } from '${import.meta.url}';
        export * from '${url}${ORIGINAL}';
        export const { ${[...names].join(', ')} } = changed('${file}', original);`;
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

/** The changed exports of a module. */
export function changed(file: string, original: object): Record<string, unknown> {
  const exports: Record<string, unknown> = {};
  for (const change of all.filter((each) => each.file === file)) {
    for (const [name, replace] of Object.entries(change.exports)) {
      const value = exports[name] ?? (original as Record<string, unknown>)[name];
      exports[name] = replace(value as never, original as never);
    }
  }
  return exports;
}

function pathOf(url: string): string {
  return url.startsWith(`file://${ROOT}`) ? url.slice(`file://${ROOT}`.length) : '';
}
