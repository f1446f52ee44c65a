import { lazy, Suspense, useState } from 'react';
import { preferences } from '../session/preferences.ts';
import { useStore } from '../session/store.ts';
import { FilterMenu, useFilters } from './filters.tsx';

const RangeOfDays = lazy(() => import('./range-of-days.tsx'));

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PRESETS = [
  ['Last hour', HOUR_MS],
  ['Last 24 hours', DAY_MS],
  ['Last 7 days', 7 * DAY_MS],
  ['Last 30 days', 30 * DAY_MS],
] as const;
// A preset that was chosen longer ago than this share of it is shown as a time.
const STALE = 0.1;

/** The times of a list: a preset that ends now, or days. @param after, before  the parameters of the API */
export function FilterRange({ after = 'after', before = 'before' }: { after?: string; before?: string }) {
  const [filters, change] = useFilters();
  const { utc } = useStore(preferences);
  const [isOpen, setOpen] = useState(false);
  const [from, to] = [filters[after] ?? '', filters[before] ?? ''];
  const preset = to === '' ? presetOf(from, Date.now()) : null;
  const set = (start: string, end: string) => change({ [after]: start, [before]: end });
  const entries = PRESETS.map(([label, ms]) => ({
    key: label,
    label,
    isChosen: label === preset,
    act: () => set(new Date(Date.now() - ms).toISOString(), ''),
  }));
  const isSet = from !== '' || to !== '';
  return (
    <>
      <FilterMenu
        label="Time"
        value={isSet ? (preset ?? rangeText(from, to, utc)) : null}
        groups={[
          {
            entries: [
              { key: 'any', label: 'Any time', isChosen: !isSet, act: () => set('', '') },
              ...entries,
              { key: 'days', label: 'Choose days…', isChosen: isSet && preset === null, act: () => setOpen(true) },
            ],
          },
        ]}
      />
      <Suspense>
        {isOpen && (
          <RangeOfDays
            utc={utc}
            onClose={() => setOpen(false)}
            onChoose={(start, end) => {
              set(start.toISOString(), end.toISOString());
              setOpen(false);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

function presetOf(from: string, nowMs: number): string | null {
  const ageMs = nowMs - Date.parse(from);
  return PRESETS.find(([, ms]) => Math.abs(ageMs - ms) < ms * STALE)?.[0] ?? null;
}

/** 3 Nov – 5 Nov; with times where they are not midnight. */
function rangeText(from: string, to: string, utc: boolean): string {
  const text = (iso: string, isEnd: boolean) => {
    const time = new Date(Date.parse(iso) - (isEnd ? 1 : 0));
    if (Number.isNaN(time.getTime())) return iso;
    const zone = utc ? { timeZone: 'UTC' } : {};
    return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone }).format(time);
  };
  if (to === '') return `since ${text(from, false)}`;
  if (from === '') return `until ${text(to, true)}`;
  const [start, end] = [text(from, false), text(to, true)];
  return start === end ? start : `${start} – ${end}`;
}
