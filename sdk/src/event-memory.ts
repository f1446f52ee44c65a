/** `new`: handle it. `busy`: another request is handling it now. `done`: it was handled before. */
export type EventProgress = 'new' | 'busy' | 'done';

/**
 * Where a receiver notes which events it has seen, by their ids: an event comes again after a lost answer, a crash, a
 * redelivery. Several processes need one that they share, such as a table with the id as its primary key.
 */
export type EventMemory = {
  /** Notes that the event is being handled, unless it is or was already. Must be atomic. */
  begin(eventId: string): EventProgress | Promise<EventProgress>;
  /** It was handled: from now on `begin` says `done`. */
  done(eventId: string): void | Promise<void>;
  /** The handler failed: from now on `begin` says `new`, so that the next attempt is handled. */
  failed(eventId: string): void | Promise<void>;
};

/** Remembers the last `maxEvents` events of this process, until it ends. */
export function rememberEvents({ maxEvents = 10_000 }: { maxEvents?: number } = {}): EventMemory {
  // In the order in which they came; the oldest goes first.
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
