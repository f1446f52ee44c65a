import type { ComponentType } from 'react';
import { lazyFrom, loadOnce } from '../../router/lazy.tsx';
import { openStore } from '../../session/store.ts';

type Parts = typeof import('./index.ts');

const load = loadOnce<Parts>(() => import('./index.ts'));

/** Whether they have loaded: what works without them does not wait for them. */
export const areLoaded = openStore(false);

/** Loads the dialogs, menus, tabs and messages. The first view shows without them. */
export function loadParts(): Promise<Parts> {
  const loading = load();
  loading.then(
    () => areLoaded.set(true),
    () => undefined,
  );
  return loading;
}

/** A component of theirs, loaded when it is rendered for the first time. */
export const lazyPart = <Props extends object>(choose: (parts: Parts) => ComponentType<Props>) =>
  lazyFrom(loadParts, choose);
