import { openStore, storageOf } from './store.ts';

// What the user prefers, kept over sessions in localStorage. Nothing that comes from the API is stored here.

export type Preferences = {
  /** Times in UTC in place of the browser's time zone. */
  utc: boolean;
  /** Single-key shortcuts such as j and k. */
  shortcuts: boolean;
  theme: 'system' | 'light' | 'dark';
};

const SLOT = 'verbatim.preferences';
const storage = storageOf(() => localStorage);
const DEFAULTS: Preferences = { utc: false, shortcuts: true, theme: 'system' };

export const preferences = openStore<Preferences>(readPreferences());

export function setPreference(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.get(), ...change });
  storage.setItem(SLOT, JSON.stringify(preferences.get()));
  applyTheme();
}

/** The style sheet chooses its colours by `color-scheme`, which the system sets where no theme is chosen. */
export function applyTheme(): void {
  const { theme } = preferences.get();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function readPreferences(): Preferences {
  try {
    const stored = JSON.parse(storage.getItem(SLOT) ?? '{}') as Partial<Preferences>;
    return {
      utc: stored.utc === true,
      shortcuts: stored.shortcuts !== false,
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
    };
  } catch {
    return DEFAULTS;
  }
}
