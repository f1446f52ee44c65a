import { useEffect, useRef } from 'react';
import { preferences } from '../../../session/preferences.ts';
import { type Command, commandOf, type KeyPress } from './keys.ts';

// With single-key shortcuts switched off, these keys still work, as in any player.
const ALWAYS = new Set([' ', 'ArrowLeft', 'ArrowRight']);

/**
 * Calls back for the keys of the player while the component is shown.
 * @param run  false where the command is not for it
 */
export function useCommands(run: (command: Command) => boolean): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
      if (!preferences.get().shortcuts && !ALWAYS.has(event.key)) return;
      const { key, ctrlKey, metaKey, altKey } = event;
      const command = commandOf({ key, hasModifier: ctrlKey || metaKey || altKey, target: kindOf(event.target) });
      if (command !== null && latest.current(command)) event.preventDefault();
    };
    // After the shortcuts of the console, which are at the document.
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

function kindOf(target: EventTarget | null): KeyPress['target'] {
  // The slider of the position does what the keys of the player do.
  if (!(target instanceof HTMLElement) || target.matches('[data-player-position]')) return 'page';
  if (target.isContentEditable || target.matches('textarea, select, input:not([type=range], [type=checkbox])'))
    return 'text';
  return target.closest('button, a, summary, input, [role=tab], [role=slider], [tabindex="0"]') ? 'widget' : 'page';
}
