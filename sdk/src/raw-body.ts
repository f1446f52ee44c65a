/** Bodies are at most 256 KiB, and longer only where the text alone is: the transcript of some hours. */
export const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Something before the handler has read the body, so that the bytes that were signed are gone. A mistake in the setup. */
export class BodyParsedError extends Error {
  constructor(advice: string) {
    super(`The body was parsed before the webhook handler saw it, and a signature covers the raw bytes. ${advice}`);
    this.name = 'BodyParsedError';
  }
}

/** All bytes of a body; null as soon as there are more than `maxBytes`. */
export async function readBody(chunks: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array);
    sizeBytes += part.length;
    if (sizeBytes > maxBytes) return null;
    parts.push(part);
  }
  const body = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
