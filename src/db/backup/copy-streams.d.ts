// The parts of these packages that backups use; they bring no declarations.

declare module 'pg-copy-streams' {
  import type { Readable, Writable } from 'node:stream';
  import type { Submittable } from 'pg';

  /** Rows of a table or query as COPY writes them; give it to `client.query`. */
  export function to(statement: string): Readable & Submittable;
  /** Takes rows for a table as COPY reads them; give it to `client.query`. */
  export function from(statement: string): Writable & Submittable;
}

declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream';

  export type Header = { name: string; size?: number; mode?: number; type?: string };

  export type Pack = Readable & {
    /** The content of the next file is written into it; it must have the size of the header. */
    entry(header: Header): Writable;
    finalize(): void;
  };

  /** Makes an archive. */
  export function pack(): Pack;
  /** Reads an archive that is written into it: its files one after another. */
  export function extract(): Writable & AsyncIterable<Readable & { header: Header }>;
}
