/** Values of a span: ids, counts and outcomes. Never a key, a secret, a transcript or metadata. */
export type Attributes = Record<string, string | number | boolean | undefined>;

/** A span that has begun. */
export type Span = {
  /** By which another part continues the trace (W3C Trace Context); null: there is none. */
  traceparent: string | null;
  /** @param error  what failed; absent or null: nothing */
  end(attributes?: Attributes, error?: string | null): void;
};

export type SpanOptions = {
  /** The kind: answers a call, makes a call, or neither. */
  kind: 'server' | 'client' | 'internal';
  /** The trace that it continues; null: it begins one. */
  parent: string | null;
  attributes?: Attributes;
};

/** Makes the spans of a process, and sends them to a collector. */
export type Tracer = {
  start(name: string, options: SpanOptions): Span;
  /** Sends what waits, for at most 2 s. */
  close(): Promise<void>;
};

/** Makes no spans: a trace goes on as it came. */
export const NO_TRACER: Tracer = {
  start: (_name, { parent }) => ({ traceparent: parent, end: () => undefined }),
  close: async () => undefined,
};
