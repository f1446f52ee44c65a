import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';

// Tabs inside of a view. The arrow keys move between them.
//
//   <Tabs label="Code" tabs={[{ name: 'curl', label: 'curl', content: … }, …]} />
//   with `chosen` and `onChoose` the caller keeps the chosen tab, for example in the address (useFilters).

export type Tab = { name: string; label: ReactNode; content: ReactNode };

export function Tabs({
  label,
  tabs,
  chosen: given,
  onChoose,
}: {
  label: string;
  tabs: readonly Tab[];
  chosen?: string | undefined;
  onChoose?: (name: string) => void;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState(tabs[0]?.name ?? '');
  const wanted = given ?? own;
  const chosen = tabs.find(({ name }) => name === wanted) ?? tabs[0];
  const choose = (name: string) => {
    setOwn(name);
    onChoose?.(name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = (tabs.findIndex(({ name }) => name === chosen?.name) + step + tabs.length) % tabs.length;
    choose(tabs[at]!.name);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus();
    event.preventDefault();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            aria-selected={tab.name === chosen?.name}
            aria-controls={`${id}-panel`}
            tabIndex={tab.name === chosen?.name ? 0 : -1}
            onClick={() => choose(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen?.name}`}>
        {chosen?.content}
      </div>
    </>
  );
}
