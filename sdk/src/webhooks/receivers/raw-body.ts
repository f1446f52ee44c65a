import { concatenate, toBytes } from '../crypto/bytes.ts';

/** Bodies have at most 256 KiB, and more only when the text alone is longer: the transcript of several hours. */
export const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The body was parsed before the handler was called, so that the signed bytes are lost. A mistake in the setup. */
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
    const part = toBytes(chunk as string | Uint8Array);
    sizeBytes += part.length;
    if (sizeBytes > maxBytes) return null;
    parts.push(part);
  }
  return concatenate(parts);
}
