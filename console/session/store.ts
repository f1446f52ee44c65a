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

/**
 * A storage of the browser. Browsers may refuse it to a page in a frame: then one in memory, which ends with the page.
 * @param open  names the storage
 */
export function storageOf(open: () => Storage): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return open();
  } catch {
    const kept = new Map<string, string>();
    return {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => void kept.set(name, value),
      removeItem: (name) => void kept.delete(name),
    };
  }
}
