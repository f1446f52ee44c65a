import { useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Input, SearchField } from 'react-aria-components/SearchField';
import { findDelivery } from '../../api/find-delivery.ts';
import { navigate } from '../../router/address.ts';
import { preferences, setPreference } from '../../session/preferences.ts';
import { session } from '../../session/session.ts';
import { AriaDialog } from '../../ui/aria/parts.ts';
import { copyText } from '../../ui/copy.tsx';
import { Problem } from '../../ui/state.tsx';
import type { NavigationEntry } from './entries.ts';
import { signOutOrSay } from './sign-out.ts';

type Command = { label: string; hint?: string; run: () => unknown };
type Go = (path: string) => void;

/** The dialog behind Ctrl K: goes to a view, jumps to a pasted id, searches transcripts, changes preferences. */
export default function Palette({
  onClose,
  entries,
  openSheet,
}: {
  onClose: () => void;
  entries: readonly NavigationEntry[];
  openSheet: () => void;
}) {
  return (
    <AriaDialog title="Go to" onClose={onClose} look="palette">
      <Commands onClose={onClose} entries={entries} openSheet={openSheet} />
    </AriaDialog>
  );
}

function Commands({ onClose, entries, openSheet }: Parameters<typeof Palette>[0]) {
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>(null);
  // The dialog closes at once; the code of the view may still load.
  const go: Go = (path) => navigate(path);
  const commands = commandsFor(text.trim(), entries, go, openSheet);
  const run = async (command: Command) => {
    setError(null);
    try {
      await command.run();
      onClose();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="View, command, id, or words of a transcript">
        <Input placeholder="Search, or paste an id" spellCheck={false} />
      </SearchField>
      {error !== null && <Problem error={error} />}
      <Menu className="menu" aria-label="Results">
        {commands.map((command) => (
          <MenuItem
            key={command.label}
            id={command.label}
            textValue={command.label}
            className="menu-item"
            onAction={() => void run(command)}
          >
            <span>{command.label}</span>
            {command.hint && <small>{command.hint}</small>}
          </MenuItem>
        ))}
      </Menu>
    </Autocomplete>
  );
}

function commandsFor(text: string, entries: readonly NavigationEntry[], go: Go, openSheet: () => void): Command[] {
  const jump = jumpTo(text, go);
  if (jump) return [jump];
  const { utc, theme } = preferences.get();
  const nextTheme = { system: 'dark', dark: 'light', light: 'system' } as const;
  const all: Command[] = [
    ...entries.map(({ label, path, letter }) => ({ label, hint: `g ${letter}`, run: () => go(path) })),
    { label: `Times in ${utc ? 'the local time zone' : 'UTC'}`, run: () => setPreference({ utc: !utc }) },
    { label: `Theme: ${nextTheme[theme]}`, run: () => setPreference({ theme: nextTheme[theme] }) },
    { label: 'Keyboard shortcuts', hint: '?', run: () => setTimeout(openSheet) },
    { label: 'Documentation', hint: '/docs/', run: () => window.open('/docs/') },
    { label: 'API reference', hint: '/docs/api', run: () => window.open('/docs/api') },
    { label: 'Sign out', run: signOutOrSay },
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  const search = {
    label: `Search transcripts for “${text}”`,
    run: () => go(`/search?q=${encodeURIComponent(text)}`),
  };
  return text !== '' && session.get().account !== null ? [...found, search] : found;
}

/** What a pasted id opens; null for any other text. */
function jumpTo(text: string, go: Go): Command | null {
  const prefix = /^(job|evt|dlv|wh|req|acct)_[0-9a-hjkmnp-tv-z]{26}$/.exec(text)?.[1];
  if (prefix === 'job') return { label: `Job ${text}`, run: () => go(`/jobs/${text}`) };
  if (prefix === 'evt') return { label: `Event ${text}`, run: () => go(`/events/${text}`) };
  if (prefix === 'wh') return { label: `Webhook ${text}`, run: () => go(`/webhooks/${text}`) };
  if (prefix === 'acct') return { label: `Account ${text}`, run: () => go(`/operator/accounts/${text}`) };
  if (prefix === 'req') {
    const label = 'Requests are in the log of the service: copy the command that finds this one';
    return { label, hint: text, run: () => copyText(`grep ${text} service.log`) };
  }
  if (prefix !== 'dlv') return null;
  const run = async () => go(`/webhooks/${(await findDelivery(text)).webhook_id}/deliveries/${text}`);
  return { label: `Delivery ${text}`, run };
}
