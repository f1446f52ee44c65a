import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Input, SearchField } from 'react-aria-components/SearchField';
import { api } from '../../api/client.ts';
import { findDelivery } from '../../api/find-delivery.ts';
import { jobName } from '../../parts/job-state.tsx';
import { navigate } from '../../router/address.ts';
import { preferences, setPreference } from '../../session/preferences.ts';
import { session } from '../../session/session.ts';
import { relativeTime } from '../../text/times.ts';
import { AriaDialog } from '../../ui/aria/parts.ts';
import { copyText } from '../../ui/copy.tsx';
import { Problem } from '../../ui/state.tsx';
import { bestFirst } from './best-first.ts';
import type { NavigationEntry } from './entries.ts';
import { signOutOrSay } from './sign-out.ts';

type Command = {
  /** Absent: the label, which no other command has. */
  id?: string;
  label: string;
  hint?: string;
  run: () => unknown;
};
type Go = (path: string) => void;

// Shorter texts are in the names of most files.
const MIN_NAME_CHARS = 2;
const SHOWN_JOBS = 5;
// Of typing.
const PAUSE_MS = 150;

/**
 * The dialog behind Ctrl K: goes to a view, jumps to a pasted id, finds jobs by their file, searches transcripts,
 * changes preferences.
 */
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
  const jobs = useJobsNamed(text.trim(), entries, go);
  const commands = commandsFor(text.trim(), { entries, jobs, go, openSheet });
  const run = async (command: Command) => {
    setError(null);
    try {
      await command.run();
      onClose();
    } catch (cause) {
      setError(cause);
    }
  };
  // The field would take the first Escape to empty itself.
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose();
  };
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <div onKeyDownCapture={onKeyDownCapture}>
        <SearchField aria-label="View, command, file, id, or words of a transcript">
          <Input placeholder="Search, or paste an id" spellCheck={false} />
        </SearchField>
      </div>
      {error !== null && <Problem error={error} />}
      <Menu className="menu" aria-label="Results">
        {commands.map((command) => (
          <MenuItem
            key={command.id ?? command.label}
            id={command.id ?? command.label}
            textValue={command.label}
            className="menu-item"
            onAction={() => void run(command)}
          >
            <span dir="auto">{command.label}</span>
            {command.hint && <small>{command.hint}</small>}
          </MenuItem>
        ))}
      </Menu>
    </Autocomplete>
  );
}

/** The newest jobs whose file has the text in its name. */
function useJobsNamed(text: string, entries: readonly NavigationEntry[], go: Go): Command[] {
  const [query, setQuery] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isOn = query.length >= MIN_NAME_CHARS && query === text && entries.some(({ path }) => path === '/jobs');
  const { data } = useQuery({
    queryKey: ['jobs', 'named', query],
    queryFn: async ({ signal }) => (await api.jobs.list({ query, limit: SHOWN_JOBS }, { signal })).data,
    enabled: isOn,
  });
  const { utc } = preferences.get();
  if (!isOn) return [];
  return (data ?? []).map((job) => ({
    id: job.id,
    label: jobName(job),
    hint: `job, ${relativeTime(Date.parse(job.created_at), Date.now(), utc)}`,
    run: () => go(`/jobs/${job.id}`),
  }));
}

type Known = { entries: readonly NavigationEntry[]; jobs: Command[]; go: Go; openSheet: () => void };

function commandsFor(text: string, { entries, jobs, go, openSheet }: Known): Command[] {
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
  const search = {
    label: `Search transcripts for “${text}”`,
    run: () => go(`/search?q=${encodeURIComponent(text)}`),
  };
  if (text === '' || session.get().account === null) return bestFirst(text, all);
  return [...bestFirst(text, all, jobs), search];
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
