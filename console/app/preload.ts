import { routeAt } from './routes.tsx';

/** Loads the code of the view at an address, `/jobs?status=failed`; a failure is shown where the view is. */
export function preload(href: string): void {
  routeAt(href.split('?', 1)[0]!)
    ?.route.load()
    .catch(() => {});
}

/** Loads the code of a view when the pointer rests on a link to it, or the link gets the focus. */
export function preloadLinks(): void {
  const onNear = ({ target }: Event) => {
    const href = target instanceof Element ? target.closest('a')?.getAttribute('href') : null;
    if (href?.startsWith('#/')) preload(href.slice(1));
  };
  document.addEventListener('pointerover', onNear);
  document.addEventListener('focusin', onNear);
}
