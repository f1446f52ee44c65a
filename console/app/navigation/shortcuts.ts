import { useEffect } from 'react';
import { preferences } from '../../session/preferences.ts';

export type ShortcutActions = {
  openPalette(): void;
  openSheet(): void;
  /** @param letter  pressed after g */
  goTo(letter: string): void;
};

/** What the sheet of shortcuts lists, besides the letters after g. */
export const SHORTCUTS: readonly (readonly [keys: string, meaning: string])[] = [
  ['Ctrl K', 'search, commands, jump to an id'],
  ['?', 'this list'],
  ['j, k', 'next and previous row'],
  ['x', 'select the row'],
  ['Enter', 'open the row'],
  ['/', 'first filter'],
  ['Esc', 'close a dialog, leave a filter'],
];

const AFTER_G_MS = 1_500;

/**
 * Listens for the shortcuts of the whole console.
 * Keys without Ctrl do nothing in fields, in dialogs, and when switched off.
 */
export function useShortcuts(actions: ShortcutActions): void {
  useEffect(() => {
    let pressedGAt = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        return actions.openPalette();
      }
      // So that the next letter is a shortcut again.
      if (event.key === 'Escape' && event.target instanceof HTMLElement && event.target.closest('main .filters')) {
        return event.target.blur();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (!preferences.get().shortcuts || document.querySelector('[role=dialog], [role=menu]')) return;
      if (event.timeStamp - pressedGAt < AFTER_G_MS) {
        pressedGAt = Number.NEGATIVE_INFINITY;
        return actions.goTo(event.key);
      }
      if (event.key === 'g') pressedGAt = event.timeStamp;
      else if (event.key === '?') actions.openSheet();
      else if (!moveInTable(event.key)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [actions]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isBox = target instanceof HTMLInputElement && ['checkbox', 'radio', 'button'].includes(target.type);
  return !isBox && (target.isContentEditable || target.matches('input, textarea, select'));
}

/** Moves the focus between the rows of the page's first table. Returns whether the key did something. */
function moveInTable(key: string): boolean {
  if (key === '/') return focus(document.querySelector('main .filters :is(input, select)'));
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  if (key === 'x') {
    const box = rows[at]?.querySelector<HTMLInputElement>('input[type=checkbox]');
    box?.click();
    return box !== undefined && box !== null;
  }
  const step = { j: 1, k: -1 }[key];
  if (step === undefined || rows.length === 0) return false;
  const row = rows[Math.min(rows.length - 1, Math.max(0, at + step))]!;
  return focus(row.querySelector('a') ?? row);
}

function focus(element: HTMLElement | null): boolean {
  element?.focus();
  element?.scrollIntoView({ block: 'nearest' });
  return element !== null;
}
