/** A file to download, with its size and digests. */
export type ExpectedFile = {
  /** Below the folder of the pull. */
  path: string;
  sizeBytes: number;
  /** At least one digest is set: the hub lists the SHA-256 of large files and git's SHA-1 of small ones. */
  sha256: string | null;
  gitSha1: string | null;
  /** Who sends it, in messages, such as "the hub". */
  server: string;
  openAt: OpenAt;
};

/** The bytes of a file from an offset on. Iteration rejects when the connection breaks. */
export type OpenAt = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** The server ignored the Range header. */
export class RangeIgnoredError extends Error {
  constructor() {
    super('the server cannot go on in the middle of a file');
    this.name = 'RangeIgnoredError';
  }
}

/** An error response of a server; `isTemporary` for 5xx, 408 and 429. */
export class AnswerError extends Error {
  readonly status: number;
  constructor(server: string, status: number, path: string) {
    super(`${server} answered ${status} for ${path}`);
    this.name = 'AnswerError';
    this.status = status;
  }
  get isTemporary(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}
