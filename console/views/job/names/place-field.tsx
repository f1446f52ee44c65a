import { type KeyboardEvent, useEffect, useRef } from 'react';

/**
 * A field in the place of what it changes. Enter saves what was typed, Escape and leaving it without a change do not;
 * then the focus is again where it was.
 * @param save  gets the text without white space around it
 */
export function PlaceField({
  label,
  text,
  maxLength,
  save,
  close,
}: {
  label: string;
  text: string;
  maxLength: number;
  save: (text: string) => void;
  close: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    opener.current = document.activeElement;
    field.current!.focus();
    field.current!.select();
  }, []);
  const leave = () => {
    close();
    sameNow(opener.current)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    // Enter also ends the choice of a character in an input method.
    if ((event.key !== 'Enter' && event.key !== 'Escape') || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    const typed = event.currentTarget.value.trim();
    if (event.key === 'Enter' && typed !== text) save(typed);
    leave();
  };
  return (
    <input
      ref={field}
      className="place-field"
      aria-label={label}
      dir="auto"
      defaultValue={text}
      maxLength={maxLength}
      onKeyDown={onKeyDown}
      onBlur={(event) => event.target.value === text && close()}
    />
  );
}

/** The element, or that of the same name which replaced it when the parts of React Aria had loaded. */
function sameNow(element: Element | null): HTMLElement | null {
  if (element === null || element.isConnected) return element as HTMLElement | null;
  const name = element.getAttribute('aria-label') ?? '';
  return document.querySelector(`button[aria-label="${CSS.escape(name)}"]`);
}
