/** The settings name a database that this release cannot use; the message says what to change. */
export class UnusableDatabaseError extends Error {}

/** No key of this node opens the encrypted rows of the database. */
export class UnknownKeyError extends UnusableDatabaseError {}

/** A restore into the folder or the database has not ended. */
export class UnfinishedRestoreError extends UnusableDatabaseError {}
