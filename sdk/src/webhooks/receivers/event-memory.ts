/** `new`: handle it. `busy`: another request is handling it now. `done`: it was handled before. */
export type EventProgress = 'new' | 'busy' | 'done';

/**
 * Stores the ids of the events that a receiver has handled: an event arrives again after a lost answer, a crash or a
 * redelivery. Several processes need a shared one, such as a table with the id as its primary key.
 */
export type EventMemory = {
  /** Marks the event as being handled, unless it is being handled or was handled. Must be atomic. */
  begin(eventId: string): EventProgress | Promise<EventProgress>;
  /** The event was handled: from now on `begin` returns `done`. */
  done(eventId: string): void | Promise<void>;
  /** The handler failed: from now on `begin` returns `new`, so that the next attempt is handled. */
  failed(eventId: string): void | Promise<void>;
};

/** Stores the last `maxEvents` event ids in this process. */
export function rememberEvents({ maxEvents = 10_000 }: { maxEvents?: number } = {}): EventMemory {
  // Oldest first.
  const events = new Map<string, 'busy' | 'done'>();
  return {
    begin(eventId) {
      const progress = events.get(eventId);
      if (progress) return progress;
      if (events.size >= maxEvents) events.delete(events.keys().next().value!);
      events.set(eventId, 'busy');
      return 'new';
    },
    done: (eventId) => void events.set(eventId, 'done'),
    failed: (eventId) => void events.delete(eventId),
  };
}
