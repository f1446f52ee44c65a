import { openStore } from '../session/store.ts';

// Where the console is: the part of the page's address after #, which browsers never send to a server. Links are plain
// ones, `<a href="#/jobs">`: the browser makes their entry in the history and reports it as a `popstate`.

export type Address = {
  /** `/jobs/job_1` */
  path: string;
  /** What follows the question mark: filters of lists, tabs. */
  filters: Readonly<Record<string, string>>;
  /** Where the page is scrolled to once the view is shown, in px; null: it stays where it is. */
  scrollPx: number | null;
};

export const address = openStore<Address>({ path: '/', filters: {}, scrollPx: null });

/** The entry of the browser's history that is shown, and where each entry was scrolled to when it was left. */
let entry = 0;
const scrolled = new Map<number, number>();

const guards = new Set<() => boolean>();
let isGoingBack = false;

/** Reads the address, and follows it from now on. */
export function followAddress(): void {
  history.scrollRestoration = 'manual';
  entry = entryOf(history.state) ?? 0;
  history.replaceState({ entry }, '');
  address.set({ ...parseHref(location.hash.slice(1)), scrollPx: null });
  addEventListener('popstate', onPopState);
}

/**
 * Goes to a view, unless a guard of the present one refuses.
 * @param href  `/jobs?status=failed`
 * @param options.replace  in place of the present entry of the history
 */
export function navigate(href: string, { replace = false } = {}): void {
  const next = parseHref(href);
  if (isRefused(next.path)) return;
  if (replace || `#${href}` === location.hash) {
    history.replaceState({ entry }, '', `#${href}`);
  } else {
    scrolled.set(entry, scrollY);
    entry += 1;
    history.pushState({ entry }, '', `#${href}`);
  }
  show(next, 0);
}

/** Changes some filters of the address; an empty value removes one. */
export function changeFilters(changed: Record<string, string>, { replace = true } = {}): void {
  const { path, filters } = address.get();
  const query = new URLSearchParams(withoutEmpty({ ...filters, ...changed })).toString();
  navigate(query === '' ? path : `${path}?${query}`, { replace });
}

/** Filters without those whose value is empty. */
export function withoutEmpty(filters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
}

/**
 * Asks before another view is shown, or the page is left, until the returned function is called.
 * @param mayLeave  asks the user
 * @param isUnsaved  whether there is anything to ask about
 */
export function guardLeaving(isUnsaved: () => boolean, mayLeave: () => boolean): () => void {
  const isHeld = () => isUnsaved() && !mayLeave();
  // The browser asks with a sentence of its own.
  const onBeforeUnload = (event: Event) => isUnsaved() && event.preventDefault();
  guards.add(isHeld);
  addEventListener('beforeunload', onBeforeUnload);
  return () => {
    guards.delete(isHeld);
    removeEventListener('beforeunload', onBeforeUnload);
  };
}

/** Asks whether what is not saved in the present view may be discarded; true where there is nothing of the kind. */
export function mayDiscard(): boolean {
  return ![...guards].some((isHeld) => isHeld());
}

/** After a link, the buttons of the browser, or a change of the address by hand. */
function onPopState(): void {
  if (isGoingBack) {
    isGoingBack = false;
    return;
  }
  const next = parseHref(location.hash.slice(1));
  const known = entryOf(history.state);
  const to = known ?? entry + 1;
  if (isRefused(next.path)) {
    isGoingBack = true;
    history.go(entry - to);
    return;
  }
  scrolled.set(entry, scrollY);
  if (known === null) {
    history.replaceState({ entry: to }, '');
    scrolled.delete(to);
  }
  entry = to;
  show(next, scrolled.get(to) ?? 0);
}

function show(next: Pick<Address, 'path' | 'filters'>, scrollPx: number): void {
  address.set({ ...next, scrollPx: next.path === address.get().path ? null : scrollPx });
}

function isRefused(path: string): boolean {
  return path !== address.get().path && !mayDiscard();
}

/** The parts of `/jobs?status=failed`. */
export function parseHref(href: string): Pick<Address, 'path' | 'filters'> {
  const [path = '', ...query] = href.split('?');
  return {
    path: path.replace(/(.)\/$/, '$1') || '/',
    filters: Object.fromEntries(new URLSearchParams(query.join('?'))),
  };
}

function entryOf(state: unknown): number | null {
  return (state as { entry?: number } | null)?.entry ?? null;
}
