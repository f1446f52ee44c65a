import { Maximize2, X } from 'lucide-react';
import {
  type ComponentType,
  type MouseEvent,
  Suspense,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { changeFilters, navigate, parseHref, withoutEmpty } from '../router/address.ts';
import { type Place, PlaceContext } from '../router/place.ts';
import { IconButton } from '../ui/menu/icon-button.tsx';
import { Loading } from '../ui/state.tsx';
import { ErrorBoundary } from './fallbacks/error-boundary.tsx';
import { routeAt } from './routes.ts';

// On wide screens what a row of a list leads to is shown beside the list. Its address is the parameter `show` of the
// list's address; on narrower screens such an address leads to the view itself.

const WIDE = matchMedia('(min-width: 80rem)');
/** Of tables, and of deliveries by event. */
const ROW_LINKS = ':is([data-row], .event-groups) a';
const LISTS = ['/jobs', '/webhooks', '/deliveries', '/events'];

type Shown = { View: ComponentType; href: string } & Pick<Place, 'path' | 'params' | 'filters'>;

/** What a list shows beside it, and a handler of clicks on its rows that shows there what they lead to. */
export function useSidePanel({ path, filters: { show = '' } }: Place) {
  const isWide = useSyncExternalStore(followWidth, () => WIDE.matches);
  const shown = useMemo(() => (LISTS.includes(path) ? shownAt(show) : null), [path, show]);
  useEffect(() => {
    if (shown && !isWide) navigate(shown.href, { replace: true });
  }, [shown, isWide]);
  const open = (href: string) => changeFilters({ show: href }, { replace: show !== '' });
  const onClickCapture = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest(ROW_LINKS) : null;
    const href = link?.getAttribute('href')?.replace(/^#/, '');
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!href || !isPlain || !isWide || !LISTS.includes(path) || !shownAt(href)) return;
    event.preventDefault();
    event.stopPropagation();
    open(href);
  };
  return { shown: isWide ? shown : null, close: () => open(''), onClickCapture };
}

function followWidth(onChange: () => void): () => void {
  WIDE.addEventListener('change', onChange);
  return () => WIDE.removeEventListener('change', onChange);
}

function shownAt(href: string): Shown | null {
  const { path, filters } = parseHref(href);
  const found = routeAt(path);
  return found?.route.isPanel ? { View: found.route.View, href, path, params: found.params, filters } : null;
}

/** The panel: the view reads its parameters and filters from it, and leaves the address to the list. */
export function SidePanel({ shown, close }: { shown: Shown; close: () => void }) {
  const { View, href, path, params } = shown;
  const [filters, setFilters] = useState(shown.filters);
  const place: Place = useMemo(
    () => ({
      path,
      params,
      filters,
      change: (changed) => setFilters((before) => withoutEmpty({ ...before, ...changed })),
      isPanel: true,
    }),
    [path, params, filters],
  );
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isElsewhere = document.querySelector('[role=dialog], [role=menu]') !== null;
      if (event.key === 'Escape' && !isElsewhere && !event.defaultPrevented) close();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [close]);
  useEffect(() => {
    const row = document.querySelector(`main [data-row]:has(a[href$="#${CSS.escape(href)}"])`);
    row?.setAttribute('data-shown', '');
    return () => row?.removeAttribute('data-shown');
  }, [href]);
  return (
    <aside className="side-panel" aria-label="Details">
      <div className="panel-tools">
        <IconButton label="Open as a page" onPress={() => navigate(href)}>
          <Maximize2 />
        </IconButton>
        <IconButton label="Close the panel" onPress={close}>
          <X />
        </IconButton>
      </div>
      <PlaceContext value={place}>
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <View />
          </Suspense>
        </ErrorBoundary>
      </PlaceContext>
    </aside>
  );
}
