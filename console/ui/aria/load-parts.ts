import type { ComponentType } from 'react';
import { lazyFrom, loadOnce } from '../../router/lazy.tsx';

type Parts = typeof import('./index.ts');

/** Loads the dialogs, menus, tabs and messages. The first view shows without them. */
export const loadParts = loadOnce<Parts>(() => import('./index.ts'));

/** A component of theirs, loaded when it is rendered for the first time. */
export const lazyPart = <Props extends object>(choose: (parts: Parts) => ComponentType<Props>) =>
  lazyFrom(loadParts, choose);
