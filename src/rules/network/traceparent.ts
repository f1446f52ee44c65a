const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * A `traceparent` header (W3C Trace Context), by which the log lines and spans of several services are found together;
 * of a later version, the part that version 00 has. Null for a header that is missing or not valid: it is ignored.
 */
export function readTraceparent(header: string | string[] | undefined): string | null {
  const [, version, traceId = '', parentId = '', flags, more] = TRACEPARENT.exec(String(header ?? '').trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return `00-${traceId}-${parentId}-${flags}`;
}

/** The field of log lines of a `traceparent`; none without one. */
export function traceField(traceparent: string | null | undefined): { trace_id?: string } {
  return traceparent ? { trace_id: traceparent.split('-')[1]! } : {};
}
