import type { ForwardedEvent } from '../delivery/local-delivery.ts';
import type { ScreenView } from './screen-view.ts';

type ScreenActions = {
  send(event: ForwardedEvent): void;
  /** Null when the user has changed nothing. */
  edit(event: ForwardedEvent): Promise<ForwardedEvent | null>;
  /** Shows the event in the console. */
  open(event: ForwardedEvent): Promise<void>;
  quit(): void;
};

const UP = '\u001b[A';
const DOWN = '\u001b[B';

/** What the keys of `verbatim listen --tui` do. */
export function screenKeys(screen: ScreenView, { send, edit, open, quit }: ScreenActions): Record<string, () => void> {
  const withSelected = (act: (event: ForwardedEvent) => void | Promise<void>) => async () => {
    const event = screen.selected;
    try {
      if (event) await act(event);
    } catch (error) {
      screen.note({ text: (error as Error).message, style: 'red' });
    }
  };
  return {
    [UP]: () => screen.move(-1),
    [DOWN]: () => screen.move(1),
    d: () => screen.toggleDetails(),
    q: quit,
    r: withSelected(send),
    o: withSelected(open),
    e: withSelected(async (event) => {
      screen.close();
      try {
        const edited = await edit(event);
        if (edited) send(edited);
        else screen.note('Nothing was changed, so nothing is sent.');
      } finally {
        screen.open();
      }
    }),
  };
}
