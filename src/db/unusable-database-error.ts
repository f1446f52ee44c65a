/** The settings name a database that this release cannot use; the message says what to change. */
export class UnusableDatabaseError extends Error {}
