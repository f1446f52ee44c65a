import { useSyncExternalStore } from 'react';

/** A value that components follow and that any code can change. */
export type Store<Value> = {
  get(): Value;
  set(value: Value): void;
  /** Calls `onChange` after each change, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
};

export function openStore<Value>(start: Value): Store<Value> {
  let value = start;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
  };
}

/** The value of a store; the component renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
