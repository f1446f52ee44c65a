import { openStore, useStore } from '../session/store.ts';

// Short messages at the bottom of the page, which screen readers read out.
//
//   say('Copied.')

type Toast = { id: number; text: string };

const SHOWN_MS = 6_000;
const MAX_TOASTS = 3;
const toasts = openStore<Toast[]>([]);
let lastId = 0;

/** Shows a message for 6 seconds. */
export function say(text: string): void {
  const id = ++lastId;
  toasts.set([...toasts.get().filter((toast) => toast.text !== text), { id, text }].slice(-MAX_TOASTS));
  setTimeout(() => toasts.set(toasts.get().filter((toast) => toast.id !== id)), SHOWN_MS);
}

/** The place of the messages; in the layout, one time. */
export function Toasts() {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
