import { Menu as MenuIcon, Search } from 'lucide-react';
import { use } from 'react';
import { useAccount, useMe } from '../../api/queries.ts';
import { PlaceContext } from '../../router/place.ts';
import { preferences, setPreference } from '../../session/preferences.ts';
import { session } from '../../session/session.ts';
import { useStore } from '../../session/store.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { IconButton } from '../../ui/menu/icon-button.tsx';
import { MenuButton } from '../../ui/menu/menu-button.tsx';
import type { NavigationEntry } from './entries.ts';
import { otherAccounts } from './other-accounts.ts';
import { signOutOrSay } from './sign-out.ts';

type Actions = { openPalette: () => void; openSheet: () => void };

/** The navigation: at the side, as icons on middle screens, on phones in a drawer behind a button. */
export function SideBar({
  entries,
  actions,
  isDrawerOpen,
  openDrawer,
}: {
  /** Null while it is not known what the user may open. */
  entries: readonly NavigationEntry[] | null;
  actions: Actions;
  isDrawerOpen: boolean;
  openDrawer: (isOpen: boolean) => void;
}) {
  return (
    <header className="side">
      <div className="brand-row">
        <IconButton className="menu-button" label="Menu" onPress={() => openDrawer(true)}>
          <MenuIcon />
        </IconButton>
        <Brand />
      </div>
      <div className="side-body">
        <Button className="search-button" title="Search or go to (Ctrl K)" onClick={actions.openPalette}>
          <Search /> <span>Search or go to</span> <kbd>Ctrl K</kbd>
        </Button>
        <Navigation entries={entries} />
      </div>
      <AccountMenu openSheet={actions.openSheet} />
      <Dialog isOpen={isDrawerOpen} title="Menu" onClose={() => openDrawer(false)} look="drawer">
        <Navigation entries={entries} />
      </Dialog>
    </header>
  );
}

/** The name of the console, which leads to its first view. */
export function Brand() {
  return (
    <a className="brand" href="#/">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M7 16h2M12 10v12M17 7v18M22 12v8M27 15v2" />
      </svg>
      <span>Verbatim</span>
    </a>
  );
}

function Navigation({ entries }: { entries: readonly NavigationEntry[] | null }) {
  const { path: shown } = use(PlaceContext);
  if (entries === null) return <Bones />;
  const groups = [...new Set(entries.map(({ group }) => group))];
  return (
    <nav className="navigation" aria-label="Console">
      {groups.map((group) => (
        <section key={group} aria-label={group}>
          <p className="group" aria-hidden="true">
            {group}
          </p>
          {entries
            .filter((entry) => entry.group === group)
            .map(({ path, label, icon: Icon }) => (
              <a key={path} href={`#${path}`} title={label} aria-current={isAt(path, shown) ? 'page' : undefined}>
                <Icon />
                <span>{label}</span>
              </a>
            ))}
        </section>
      ))}
    </nav>
  );
}

const BONES = 8;

function Bones() {
  return (
    <div className="navigation loading" aria-hidden="true">
      {Array.from({ length: BONES }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all are the same
        <span key={at} className="bone" />
      ))}
    </div>
  );
}

/** Whether the entry leads to the shown view, or to the list above it. */
function isAt(path: string, shown: string): boolean {
  const isAbove = path !== '/' && path !== '/operator' && shown.startsWith(`${path}/`);
  return shown === path || isAbove;
}

/** Who is signed in, and what concerns the user and not a view. */
function AccountMenu({ openSheet }: { openSheet: () => void }) {
  const { utc, theme } = useStore(preferences);
  const { admin } = useStore(session);
  const { data: account } = useAccount();
  const { data: me } = useMe();
  const name = me?.name ?? account?.name ?? (admin ? 'Operator' : 'Account');
  const team = me ? account?.name : account?.plan;
  const choice = (key: string, label: string, isChosen: boolean, change: Parameters<typeof setPreference>[0]) => ({
    key,
    label,
    isChosen,
    act: () => setPreference(change),
  });
  return (
    <MenuButton
      className="account-button"
      groups={[
        ...otherAccounts(me),
        {
          title: 'Times',
          entries: [choice('local', 'Local time', !utc, { utc: false }), choice('utc', 'UTC', utc, { utc: true })],
        },
        {
          title: 'Theme',
          entries: [
            choice('system', 'System', theme === 'system', { theme: 'system' }),
            choice('light', 'Light', theme === 'light', { theme: 'light' }),
            choice('dark', 'Dark', theme === 'dark', { theme: 'dark' }),
          ],
        },
        {
          entries: [
            { key: 'docs', label: 'Documentation', href: '/docs/' },
            { key: 'api', label: 'API reference', href: '/docs/api' },
            { key: 'keys', label: 'Keyboard shortcuts', act: openSheet },
            { key: 'out', label: 'Sign out', act: signOutOrSay },
          ],
        },
      ]}
    >
      <span className="avatar" aria-hidden="true">
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="hidden">Account menu</span>
      <span className="who">
        {name}
        {team && <small>{team}</small>}
      </span>
    </MenuButton>
  );
}
