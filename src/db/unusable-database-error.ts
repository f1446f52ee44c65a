/** The settings name a database that this release can never work with; the message says what to change. */
export class UnusableDatabaseError extends Error {}
