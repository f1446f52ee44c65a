/** What a key does in the player. */
export type Command =
  | { kind: 'toggle' | 'loop' | 'follow' | 'edit' | 'next-match' | 'previous-match' }
  | { kind: 'skip'; seconds: number }
  | { kind: 'rate'; steps: number };

/** A key press: the key's name, and what has the focus. */
export type KeyPress = {
  key: string;
  hasModifier: boolean;
  /** `text`: it takes letters. `widget`: it takes Space and the arrows, as a button, tab or slider does. */
  target: 'page' | 'widget' | 'text';
};

/** The keys, with their names for the list of shortcuts. */
export const KEYS: readonly { keys: readonly string[]; label: string; means: string; command: Command }[] = [
  { keys: [' '], label: 'Space', means: 'play or pause', command: { kind: 'toggle' } },
  { keys: ['j', 'J'], label: 'J', means: 'back 10 s', command: { kind: 'skip', seconds: -10 } },
  { keys: ['l', 'L'], label: 'L', means: 'forward 10 s', command: { kind: 'skip', seconds: 10 } },
  { keys: ['ArrowLeft'], label: '←', means: 'back 5 s', command: { kind: 'skip', seconds: -5 } },
  { keys: ['ArrowRight'], label: '→', means: 'forward 5 s', command: { kind: 'skip', seconds: 5 } },
  { keys: ['<', '-'], label: '−', means: 'slower', command: { kind: 'rate', steps: -1 } },
  { keys: ['>', '+'], label: '+', means: 'faster', command: { kind: 'rate', steps: 1 } },
  { keys: ['r'], label: 'r', means: 'repeat this segment', command: { kind: 'loop' } },
  { keys: ['f'], label: 'f', means: 'follow the sound', command: { kind: 'follow' } },
  { keys: ['e'], label: 'e', means: 'edit this segment', command: { kind: 'edit' } },
  { keys: ['n'], label: 'n', means: 'next match', command: { kind: 'next-match' } },
  { keys: ['N'], label: 'N', means: 'previous match', command: { kind: 'previous-match' } },
];

const WIDGET_KEYS = new Set([' ', 'Enter', 'ArrowLeft', 'ArrowRight']);

/** The command of a key press; null where the key belongs to what has the focus, or to the browser. */
export function commandOf({ key, hasModifier, target }: KeyPress): Command | null {
  if (hasModifier || target === 'text') return null;
  if (target === 'widget' && WIDGET_KEYS.has(key)) return null;
  return KEYS.find(({ keys }) => keys.includes(key))?.command ?? null;
}
