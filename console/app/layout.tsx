import {
  type ComponentType,
  lazy,
  Suspense,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react';
import { useAccount } from '../api/queries.ts';
import { address, changeFilters, navigate } from '../router/address.ts';
import { type Place, PlaceContext } from '../router/place.ts';
import { nameOf, session } from '../session/session.ts';
import { useStore } from '../session/store.ts';
import { Loading } from '../ui/state.tsx';
import { say, Toasts } from '../ui/toast.tsx';
import { ErrorBoundary } from './fallbacks/error-boundary.tsx';
import { NotFound } from './fallbacks/not-found.tsx';
import { NotPermitted } from './fallbacks/not-permitted.tsx';
import { type NavigationEntry, permittedEntries, refusedEntry } from './navigation/entries.ts';
import { useShortcuts } from './navigation/shortcuts.ts';
import { Brand, SideBar } from './navigation/side-bar.tsx';
import { PortalLink } from './portal-link.tsx';
import { preloadNext } from './preload.ts';
import { unreachable } from './query-client.ts';
import { isPublicPath, routeAt } from './routes.ts';
import { SidePanel, useSidePanel } from './side-panel.tsx';

const Palette = lazy(() => import('./navigation/palette.tsx'));
const ShortcutSheet = lazy(() => import('./navigation/shortcut-sheet.tsx'));

type Opened = 'palette' | 'sheet' | 'menu' | null;

/**
 * The frame of every view: navigation, banners, palette and messages.
 * Signed out, the sign-in view takes the view's place. A public view is shown to everybody, without the navigation.
 */
export function Layout() {
  const { account: signedIn, admin } = useStore(session);
  const { View, place, mayShow, isPublic } = useView();
  const { path } = place;
  const [opened, setOpened] = useState<Opened>(null);
  const account = useAccount();
  const scopes = account.data?.scopes ?? [];
  const entries = permittedEntries({ account: signedIn, admin }, scopes);
  const refused = signedIn ? refusedEntry(path, { account: signedIn, admin }, scopes) : undefined;
  // A form is not shown before it is known that it can be sent.
  const isHeld = account.isLoading && refused?.needs.endsWith(':write');
  const actions = useActions(entries, setOpened);
  useShortcuts(actions);
  const panel = useSidePanel(place);
  const paths = entries.map(({ path }) => path).join();
  useEffect(() => void preloadNext(paths.split(',')), [paths]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the address closes the menu
  useEffect(() => setOpened((before) => (before === 'menu' ? null : before)), [path]);
  const hasSideBar = !isPublic && (signedIn !== null || admin !== null);
  return (
    <PlaceContext value={place}>
      <div className={hasSideBar ? 'shell' : 'shell signed-out'}>
        {/* biome-ignore lint/a11y/useValidAnchor: a link, as screen readers expect it; the address must not change. */}
        <a className="skip" href="#main" onClick={skipToMain}>
          Skip to the content
        </a>
        {hasSideBar ? (
          <SideBar
            entries={account.isLoading ? null : entries}
            actions={actions}
            isDrawerOpen={opened === 'menu'}
            openDrawer={(isOpen) => setOpened(isOpen ? 'menu' : null)}
          />
        ) : (
          <header className="top">
            <Brand />
          </header>
        )}
        <div className={panel.shown ? 'content with-panel' : 'content'}>
          <Banners />
          <main id="main" tabIndex={-1} onClickCapture={panel.onClickCapture}>
            <Suspense key={nameOf(signedIn)} fallback={<Loading />}>
              <ErrorBoundary key={path}>
                {refused && account.data ? <NotPermitted entry={refused} /> : isHeld ? <Loading /> : <View />}
              </ErrorBoundary>
            </Suspense>
          </main>
          {panel.shown && mayShow && <SidePanel key={panel.shown.href} shown={panel.shown} close={panel.close} />}
        </div>
        <Suspense>
          {opened === 'palette' && (
            <Palette onClose={() => setOpened(null)} entries={entries} openSheet={actions.openSheet} />
          )}
          {opened === 'sheet' && <ShortcutSheet onClose={() => setOpened(null)} entries={entries} />}
        </Suspense>
        <PortalLink />
        <Toasts />
      </div>
    </PlaceContext>
  );
}

/**
 * The view of the address, and the place that it reads. The view before stays until the code of the next has loaded.
 * The operator's token alone has another view at the start.
 */
function useView(): { View: ComponentType; place: Place; mayShow: boolean; isPublic: boolean } {
  const { account, admin } = useStore(session);
  const shown = useDeferredValue(useStore(address));
  const path = shown.path === '/' && account === null && admin !== null ? '/operator' : shown.path;
  const isPublic = isPublicPath(path);
  const mayShow = isPublic || (path.startsWith('/operator') ? admin !== null : account !== null);
  useLayoutEffect(() => {
    if (shown.scrollPx !== null) scrollTo(0, shown.scrollPx);
  }, [shown]);
  return useMemo(() => {
    const { route, params = {} } = routeAt(mayShow ? path : '/sign-in') ?? {};
    const place = { path, params, filters: shown.filters, change: changeFilters, isPanel: false };
    return { View: route?.View ?? NotFound, place, mayShow, isPublic };
  }, [path, shown, mayShow, isPublic]);
}

/** What shortcuts do. The same object until the entries change. */
function useActions(entries: readonly NavigationEntry[], setOpened: (opened: Opened) => void) {
  const letters = entries.map(({ letter, path }) => `${letter}${path}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `letters` stands for the entries
  return useMemo(
    () => ({
      openPalette: () => setOpened('palette'),
      openSheet: () => setOpened('sheet'),
      goTo(letter: string) {
        const entry = entries.find((other) => other.letter === letter);
        if (entry) navigate(entry.path);
        else say(`g ${letter} leads nowhere; ? shows the shortcuts.`);
      },
    }),
    [letters],
  );
}

function Banners() {
  const isUnreachable = useStore(unreachable);
  if (!isUnreachable) return null;
  return (
    <p className="banner" role="alert">
      {navigator.onLine ? 'The service cannot be reached.' : 'You are offline.'} What was loaded before remains; the
      console goes on when the service answers again.
    </p>
  );
}

/** The address is the place of the view, so a link to a fragment must not change it. */
function skipToMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}
