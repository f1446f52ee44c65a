/** One message to or from an engine's process: a JSON header, and bytes that would be large as JSON. */
export type Frame = { header: unknown; body: Buffer };

// A piece of 30 s has under 1 MB, its transcript far less.
const FRAME_MAX_BYTES = 64 * 2 ** 20;
const LENGTHS_BYTES = 8;

/** The bytes of a frame: the lengths of header and body as 32-bit little-endian numbers, then header and body. */
export function encodeFrame(header: unknown, body: Uint8Array = new Uint8Array(0)): Buffer {
  return Buffer.concat([frameStart(header, body), body]);
}

/** The bytes of a frame before its body, which then need not be copied. */
export function frameStart(header: unknown, body: Uint8Array): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(body.length, 4);
  return Buffer.concat([lengths, json]);
}

/**
 * The frames of a stream, whatever the boundaries of its chunks. An incomplete frame at the end is dropped.
 * @throws RangeError  when a frame is longer than 64 MiB: other code has written to the stream
 */
export async function* readFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let parts: Buffer[] = [];
  let held = 0;
  let wanted = LENGTHS_BYTES;
  for await (const chunk of chunks) {
    parts.push(chunk);
    held += chunk.length;
    while (held >= wanted) {
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      const frame = decodeFrame(bytes);
      const rest = frame.kind === 'whole' ? bytes.subarray(frame.bytes) : bytes;
      parts = [rest];
      held = rest.length;
      wanted = frame.kind === 'whole' ? LENGTHS_BYTES : frame.wanted;
      if (frame.kind === 'whole') yield frame.frame;
    }
  }
}

type Decoded = { kind: 'whole'; frame: Frame; bytes: number } | { kind: 'part'; wanted: number };

function decodeFrame(bytes: Buffer): Decoded {
  const bodyStart = LENGTHS_BYTES + bytes.readUInt32LE(0);
  const end = bodyStart + bytes.readUInt32LE(4);
  if (end > FRAME_MAX_BYTES) throw new RangeError(`A frame of ${end} bytes is over the limit of ${FRAME_MAX_BYTES}.`);
  if (bytes.length < end) return { kind: 'part', wanted: end };
  const header: unknown = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, bodyStart));
  return { kind: 'whole', frame: { header, body: bytes.subarray(bodyStart, end) }, bytes: end };
}
