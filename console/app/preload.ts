import { parseHref } from '../router/address.ts';
import { loadParts } from '../ui/aria/load-parts.ts';
import { queryClient } from './query-client.ts';
import { routeAt } from './routes.ts';

/** Loads the code of the view at an address, `/jobs?status=failed`; a failure is shown where the view is. */
export async function preload(href: string): Promise<void> {
  await routeAt(parseHref(href).path)?.route.load().catch(ignore);
}

const PAUSE_MS = 50;

/**
 * Loads what the next clicks may need, once the shown view waits for nothing: dialogs and menus, which it shows
 * without, then the views at these paths. One after the other, so that the request of a click has a connection.
 */
export async function preloadNext(paths: readonly string[]): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  while (queryClient.isFetching() > 0);
  await loadParts().catch(ignore);
  for (const path of paths) await preload(path);
}

function ignore(): void {}

/** Loads the code of a view when the pointer rests on a link to it, or the link gets the focus. */
export function preloadLinks(): void {
  const onNear = ({ target }: Event) => {
    const href = target instanceof Element ? target.closest('a')?.getAttribute('href') : null;
    if (href?.startsWith('#/')) void preload(href.slice(1));
  };
  document.addEventListener('pointerover', onNear);
  document.addEventListener('focusin', onNear);
}
