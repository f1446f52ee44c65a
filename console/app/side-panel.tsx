import { useNavigate, useRouterState } from '@tanstack/react-router';
import { Maximize2, X } from 'lucide-react';
import { type MouseEvent, type ReactNode, Suspense, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { InPanel, type PanelPlace } from '../ui/in-panel.ts';
import { IconButton } from '../ui/menu/icon-button.tsx';
import { Loading } from '../ui/state.tsx';

// On wide screens what a row of a list leads to is shown beside the list. Its address is the parameter `show` of the
// list's address; on narrower screens such an address leads to the view itself.

const WIDE = matchMedia('(min-width: 80rem)');
const LISTS = ['/jobs', '/webhooks', '/deliveries', '/events'];
const VIEWS: readonly [view: PanelView, path: RegExp][] = [
  ['job', /^\/jobs\/(?<jobId>[^/]+)$/],
  ['attempt', /^\/webhooks\/(?<webhookId>[^/]+)\/deliveries\/(?<deliveryId>[^/]+)$/],
  ['webhook', /^\/webhooks\/(?<webhookId>[^/]+)$/],
  ['event', /^\/events\/(?<eventId>[^/]+)$/],
];

export type PanelView = 'job' | 'attempt' | 'webhook' | 'event';
type Shown = { view: PanelView; href: string; params: Record<string, string>; filters: Record<string, string> };

/** What a list shows beside it, and a handler of clicks on its rows that shows there what they lead to. */
export function useSidePanel() {
  const navigate = useNavigate();
  const { pathname, show } = useRouterState({
    select: ({ location }) => ({
      pathname: location.pathname,
      show: (location.search as Record<string, string>)['show'],
    }),
    structuralSharing: true,
  });
  const isWide = useSyncExternalStore(followWidth, () => WIDE.matches);
  const shown = useMemo(() => (LISTS.includes(pathname) && show ? shownAt(show) : null), [pathname, show]);
  useEffect(() => {
    if (shown && !isWide) void navigate({ href: shown.href, replace: true } as never);
  }, [shown, isWide, navigate]);
  const open = (href: string | null) =>
    void navigate({
      to: '.',
      search: ({ show: before, ...others }: Record<string, string>) =>
        href === null ? others : { ...others, show: href },
      replace: show !== undefined,
      resetScroll: false,
    } as never);
  const onClickCapture = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('tr[data-row] a') : null;
    const href = link?.getAttribute('href')?.replace(/^\/?#/, '');
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!href || !isPlain || !isWide || !LISTS.includes(pathname) || !shownAt(href)) return;
    event.preventDefault();
    event.stopPropagation();
    open(href);
  };
  return { shown: isWide ? shown : null, close: () => open(null), onClickCapture };
}

function followWidth(onChange: () => void): () => void {
  WIDE.addEventListener('change', onChange);
  return () => WIDE.removeEventListener('change', onChange);
}

function shownAt(href: string): Shown | null {
  const [path = '', query = ''] = href.split('?');
  for (const [view, pattern] of VIEWS) {
    const params = pattern.exec(path)?.groups;
    if (params) return { view, href, params, filters: Object.fromEntries(new URLSearchParams(query)) };
  }
  return null;
}

/** The panel. @param children  the view, which reads its parameters and filters from the panel */
export function SidePanel({ shown, close, children }: { shown: Shown; close: () => void; children: ReactNode }) {
  const navigate = useNavigate();
  const [filters, setFilters] = useState(shown.filters);
  const place: PanelPlace = useMemo(
    () => ({
      params: shown.params,
      filters,
      change: (changed) =>
        setFilters((before) =>
          Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, text]) => text)),
        ),
    }),
    [shown.params, filters],
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
    const row = document.querySelector(`main tr[data-row]:has(a[href$="#${CSS.escape(shown.href)}"])`);
    row?.setAttribute('data-shown', '');
    return () => row?.removeAttribute('data-shown');
  }, [shown.href]);
  return (
    <aside className="side-panel" aria-label="Details">
      <div className="panel-tools">
        <IconButton label="Open as a page" onPress={() => void navigate({ href: shown.href } as never)}>
          <Maximize2 />
        </IconButton>
        <IconButton label="Close the panel" onPress={close}>
          <X />
        </IconButton>
      </div>
      <InPanel value={place}>
        <Suspense fallback={<Loading />}>{children}</Suspense>
      </InPanel>
    </aside>
  );
}
