import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { useAccount } from '../api/queries.ts';
import { preferences, setPreference } from '../session/preferences.ts';
import { nameOf, session } from '../session/session.ts';
import { useStore } from '../session/store.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/state.tsx';
import { say, Toasts } from '../ui/toast.tsx';
import { type NavigationEntry, permittedEntries } from './navigation.ts';
import { Palette } from './palette.tsx';
import { PortalLink } from './portal-link.tsx';
import { unreachable } from './query-client.ts';
import { ShortcutSheet } from './shortcut-sheet.tsx';
import { useShortcuts } from './shortcuts.ts';
import { signOutOrSay } from './sign-out.ts';

const SignIn = lazy(() => import('../views/sign-in/index.tsx'));

type Opened = 'palette' | 'sheet' | 'menu' | null;

/**
 * The frame of every view: navigation, banners, palette and messages.
 * Signed out, the sign-in view takes the view's place.
 */
export function Layout() {
  const { account: signedIn, admin } = useStore(session);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [opened, setOpened] = useState<Opened>(null);
  const account = useAccount();
  const entries = permittedEntries({ account: signedIn, admin }, account.data?.scopes ?? null);
  const actions = useActions(entries, setOpened);
  useShortcuts(actions);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the address closes the menu
  useEffect(() => setOpened((before) => (before === 'menu' ? null : before)), [path]);
  const isSignedIn = signedIn !== null || admin !== null;
  const mayShow = path.startsWith('/operator') ? admin !== null : signedIn !== null;
  return (
    <div className="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: a link, as screen readers expect it; the address must not change. */}
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <header className={opened === 'menu' ? 'side open' : 'side'}>
        <div className="brand-row">
          <Link className="brand" to="/">
            Verbatim
          </Link>
          {isSignedIn && (
            <Button
              className="menu-button"
              aria-expanded={opened === 'menu'}
              onClick={() => setOpened(opened === 'menu' ? null : 'menu')}
            >
              Menu
            </Button>
          )}
        </div>
        {isSignedIn && (
          <div className="side-body">
            <Button className="search-button" onClick={actions.openPalette}>
              <span>Search or go to</span> <kbd>Ctrl K</kbd>
            </Button>
            <Navigation entries={entries} />
            <SideFoot who={account.data ? `${account.data.name} · ${account.data.plan}` : admin ? 'Operator' : ''} />
          </div>
        )}
      </header>
      <div className="content">
        <Banners />
        <main id="main" tabIndex={-1}>
          <Suspense key={nameOf(signedIn)} fallback={<Loading />}>
            {mayShow && path !== '/sign-in' ? <Outlet /> : <SignIn />}
          </Suspense>
        </main>
      </div>
      <Palette
        isOpen={opened === 'palette'}
        onClose={() => setOpened(null)}
        entries={entries}
        openSheet={actions.openSheet}
      />
      <PortalLink />
      <ShortcutSheet isOpen={opened === 'sheet'} onClose={() => setOpened(null)} entries={entries} />
      <Toasts />
    </div>
  );
}

/** What shortcuts do. The same object until the entries change. */
function useActions(entries: readonly NavigationEntry[], setOpened: (opened: Opened) => void) {
  const navigate = useNavigate();
  const letters = entries.map(({ letter, path }) => `${letter}${path}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `letters` stands for the entries
  return useMemo(
    () => ({
      openPalette: () => setOpened('palette'),
      openSheet: () => setOpened('sheet'),
      goTo(letter: string) {
        const entry = entries.find((other) => other.letter === letter);
        if (entry) void navigate({ to: entry.path } as never);
        else say(`g ${letter} leads nowhere; ? shows the shortcuts.`);
      },
    }),
    [letters],
  );
}

function Navigation({ entries }: { entries: readonly NavigationEntry[] }) {
  const [own, operator] = [false, true].map((isOperator) =>
    entries.filter(({ needs }) => (needs === 'operator') === isOperator),
  ) as [NavigationEntry[], NavigationEntry[]];
  const link = ({ path, label }: NavigationEntry) => (
    <Link key={path} to={path} activeOptions={{ exact: path === '/' || path === '/operator', includeSearch: false }}>
      {label}
    </Link>
  );
  return (
    <nav aria-label="Console">
      {own.map(link)}
      {operator.length > 0 && <p className="group">Operator</p>}
      {operator.map(link)}
    </nav>
  );
}

function SideFoot({ who }: { who: string }) {
  const { utc, theme } = useStore(preferences);
  return (
    <div className="side-foot">
      <p className="who">{who}</p>
      <label>
        <span className="hidden">Time zone</span>
        <select
          value={utc ? 'utc' : 'local'}
          onChange={(event) => setPreference({ utc: event.target.value === 'utc' })}
        >
          <option value="local">Local times</option>
          <option value="utc">UTC times</option>
        </select>
      </label>
      <label>
        <span className="hidden">Theme</span>
        <select value={theme} onChange={(event) => setPreference({ theme: event.target.value as typeof theme })}>
          <option value="system">System theme</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <a href="/docs">API reference</a>
      <Button look="quiet" onClick={signOutOrSay}>
        Sign out
      </Button>
    </div>
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
