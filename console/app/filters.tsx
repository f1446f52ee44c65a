import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useState } from 'react';

// Filters of a list. They are in the address, so that a link or a reload shows the same list.
//
//   const [filters, setFilters] = useFilters();           { status: 'failed' }
//   <Filters><FilterSelect name="status" label="Status" values={['queued', …]} /> <FilterText name="query" label="Name"
//   /></Filters>

export type FilterValues = Record<string, string>;

/** The filters of the address, and a function that changes some of them; an empty value removes one. */
export function useFilters(): [FilterValues, (change: FilterValues) => void] {
  const filters = useSearch({ strict: false }) as FilterValues;
  const navigate = useNavigate();
  const change = (changed: FilterValues) =>
    void navigate({
      to: '.',
      search: (before: FilterValues) => withoutEmpty({ ...before, ...changed }),
      replace: true,
    } as never);
  return [filters, change];
}

function withoutEmpty(values: FilterValues): FilterValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** The row of filters above a list. */
export function Filters({ children }: { children: ReactNode }) {
  return <search className="filters">{children}</search>;
}

type FilterProps = { name: string; label: string };

/** @param values  what can be chosen: words, or pairs of value and label */
export function FilterSelect({
  name,
  label,
  values,
  all = 'all',
}: FilterProps & { values: readonly (string | readonly [string, string])[]; all?: string }) {
  const id = useId();
  const [filters, change] = useFilters();
  return (
    <span className="filter">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        value={filters[name] ?? ''}
        onChange={(event) => change({ [name]: event.target.value })}
      >
        <option value="">{all}</option>
        {values.map((entry) => {
          const [value, text] = typeof entry === 'string' ? [entry, entry] : entry;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    </span>
  );
}

const TYPING_PAUSE_MS = 350;

/** A text; the list changes when the typing pauses. */
export function FilterText({
  name,
  label,
  placeholder,
  type = 'search',
}: FilterProps & { placeholder?: string; type?: 'search' | 'number' }) {
  const id = useId();
  const [filters, change] = useFilters();
  const inAddress = filters[name] ?? '';
  const [typed, setTyped] = useState({ text: inAddress, from: inAddress });
  const text = typed.from === inAddress ? typed.text : inAddress;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause anew
  useEffect(() => {
    if (text === inAddress) return;
    const timer = setTimeout(() => change({ [name]: text.trim() }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, inAddress]);
  return (
    <span className="filter">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        value={text}
        placeholder={placeholder}
        onChange={(event) => setTyped({ text: event.target.value, from: inAddress })}
      />
    </span>
  );
}

/** A time, which the user enters in the time zone of the browser and the address has in UTC. */
export function FilterTime({ name, label }: FilterProps) {
  const id = useId();
  const [filters, change] = useFilters();
  const onChange = (local: string) => change({ [name]: local ? new Date(local).toISOString() : '' });
  return (
    <span className="filter">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type="datetime-local"
        value={localTime(filters[name])}
        onChange={(event) => onChange(event.target.value)}
      />
    </span>
  );
}

/** A time of the API as an input of the type datetime-local wants it; empty without one. */
export function localTime(iso: string | undefined): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return '';
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
