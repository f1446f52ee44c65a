import { ChevronDown, ListFilter, Search } from 'lucide-react';
import { Children, type ReactNode, use, useEffect, useRef, useState } from 'react';
import { PlaceContext } from '../router/place.ts';
import type { MenuGroup } from '../ui/aria/aria-menu.tsx';
import { Button } from '../ui/button.tsx';
import { MenuButton } from '../ui/menu/menu-button.tsx';

// Filters of a list. They are in the address, so that a link or a reload shows the same list.
//
//   const [filters, setFilters] = useFilters();           { status: 'failed' }
//   <Filters><FilterSelect name="status" label="Status" values={['queued', …]} /> <FilterText name="query" label="Name"
//   /></Filters>

export type FilterValues = Readonly<Record<string, string>>;

/** The filters of the address, and a function that changes some of them; an empty value removes one. */
export function useFilters(): [FilterValues, (change: FilterValues) => void] {
  const { filters, change } = use(PlaceContext);
  return [filters, change];
}

/** The parameters of the view's path, such as the id of a job. */
export function useViewParams(): Readonly<Record<string, string>> {
  return use(PlaceContext).params;
}

/** The row of filters above a list. On phones all but the first are behind a button. */
export function Filters({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = Children.toArray(children);
  return (
    <search className={isOpen ? 'filters open' : 'filters'}>
      {first}
      {others.length > 0 && (
        <Button className="filters-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ListFilter /> Filter
        </Button>
      )}
      {others}
    </search>
  );
}

type FilterProps = { name: string; label: string };

/**
 * A menu of values. @param values  what can be chosen: words, or pairs of value and label
 * @param all  the entry that removes the filter
 */
export function FilterSelect({
  name,
  label,
  values,
  all = 'All',
}: FilterProps & { values: readonly (string | readonly [string, string])[]; all?: string }) {
  const [filters, change] = useFilters();
  const chosen = filters[name] ?? '';
  const options = [['', all], ...values.map((entry) => (typeof entry === 'string' ? [entry, entry] : entry))] as const;
  const entries = options.map(([value = '', text = '']) => ({
    key: value || 'all',
    label: text,
    isChosen: value === chosen,
    act: () => change({ [name]: value }),
  }));
  const shown = entries.find(({ isChosen }) => isChosen)?.label ?? chosen;
  return <FilterMenu label={label} value={chosen === '' && all === 'All' ? null : shown} groups={[{ entries }]} />;
}

/** The button of a filter, which has its value, and its menu. @param value  null: the filter is not set */
export function FilterMenu({
  label,
  value,
  groups,
}: {
  label: string;
  value: string | null;
  groups: readonly MenuGroup[];
}) {
  return (
    <MenuButton className={value === null ? 'button filter-button' : 'button filter-button set'} groups={groups}>
      {label}
      {value !== null && <b>{value}</b>}
      <ChevronDown />
    </MenuButton>
  );
}

const TYPING_PAUSE_MS = 350;

/** A text; the list changes when the typing pauses. */
export function FilterText({
  name,
  label,
  placeholder = label,
  type = 'search',
}: FilterProps & { placeholder?: string; type?: 'search' | 'number' }) {
  const [filters, change] = useFilters();
  const inAddress = filters[name] ?? '';
  const [text, setText] = useState(inAddress);
  const given = useRef(inAddress);
  useEffect(() => {
    // Changed by a link or a button: what was typed before does not come back.
    if (inAddress !== given.current) setText(inAddress);
    given.current = inAddress;
  }, [inAddress]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause anew
  useEffect(() => {
    if (text.trim() === inAddress) return;
    const timer = setTimeout(() => {
      given.current = text.trim();
      change({ [name]: given.current });
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, inAddress]);
  return (
    <label className="filter-text">
      <Search />
      <span className="hidden">{label}</span>
      <input
        name={name}
        type={type}
        value={text}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}

/** A time of the API as an input of the type datetime-local wants it; empty without one. */
export function localTime(iso: string | undefined): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return '';
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
