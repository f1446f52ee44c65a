/** The exit codes of every command. */
export const EXIT = {
  done: 0,
  failed: 1,
  wrongUse: 2,
  notSignedIn: 4,
  notFound: 5,
  outOfCredits: 6,
  rateLimited: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: the message goes to standard error. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** An option or argument that cannot be used. */
export class UsageError extends CommandError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.wrongUse, options);
  }
}

/** The reason of a run's signal when its output cannot be written; the user has been told. */
export class OutputFailed extends Error {}

/** The reason of a run's signal when nobody reads its standard output any more, such as `head` after its last line. */
export class OutputClosed extends Error {}
