import { useState } from 'react';
import { useStore } from '../../session/store.ts';
import { areLoaded } from '../aria/load-parts.ts';

/**
 * A plain button that stands where one of React Aria will be: whether it still does, its listeners, and whether the
 * other one takes the focus from it.
 */
export function useWaitingButton() {
  const [hasFocus, setFocused] = useState(false);
  const isWaiting = !useStore(areLoaded);
  return { isWaiting, hasFocus, listeners: { onFocus: () => setFocused(true), onBlur: () => setFocused(false) } };
}
