import { type ComponentType, lazy } from 'react';

type Parts = typeof import('./index.ts');

/** Loads the dialogs, menus, tabs and messages. The first view shows without them. */
export const loadParts = (): Promise<Parts> => import('./index.ts');

/** A component of theirs, loaded when it is rendered for the first time. */
export function lazyPart<Props>(choose: (parts: Parts) => ComponentType<Props>): ComponentType<Props> {
  return lazy(async () => ({ default: choose(await loadParts()) })) as unknown as ComponentType<Props>;
}
