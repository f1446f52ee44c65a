// Preloaded into the processes of a service (NODE_OPTIONS=--import=…): adds all bugs of planted-bugs.ts to its bundle.
import { registerHooks } from 'node:module';
import { PLANTED_BUGS } from './planted-bugs.ts';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (loaded.format !== 'module' || !url.endsWith('.js')) return loaded;
    const source = PLANTED_BUGS.reduce(
      (text, { original, changed }) => text.replace(original, () => changed),
      Buffer.from(loaded.source as Uint8Array).toString(),
    );
    return { ...loaded, source };
  },
});
