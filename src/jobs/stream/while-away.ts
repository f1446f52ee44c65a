import { isDatabaseAway } from '../../db/database.ts';

/** Undefined while the database is away: a stream goes on, and sends what it missed once the database is back. */
export async function orUndefinedWhileAway<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (cause) {
    if (isDatabaseAway(cause)) return undefined;
    throw cause;
  }
}
