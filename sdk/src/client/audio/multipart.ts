/** The file part of a form. */
export type FilePart = {
  name: string;
  content: Blob | AsyncIterable<Uint8Array>;
};

/** A form as multipart/form-data: a Blob of a Blob, else a stream. The file comes last, so that refusals come early. */
export function writeMultipart(
  fields: readonly (readonly [string, string])[],
  { name, content }: FilePart,
): { body: Blob | ReadableStream<Uint8Array>; headers: Record<string, string> } {
  const boundary = `verbatim-${Array.from(crypto.getRandomValues(new Uint32Array(4))).join('-')}`;
  const head = [
    ...fields.map(([field, value]) => `--${boundary}\r\n${disposition(field)}\r\n\r\n${value}\r\n`),
    `--${boundary}\r\n${disposition('file')}; filename="${escapeName(name)}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  ].join('');
  const tail = `\r\n--${boundary}--\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  if (content instanceof Blob) return { body: new Blob([head, content, tail]), headers };
  return { body: streamOf(parts(head, content, tail)), headers };
}

async function* parts(head: string, content: AsyncIterable<Uint8Array>, tail: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(head);
  yield* content;
  yield encoder.encode(tail);
}

function disposition(field: string): string {
  return `Content-Disposition: form-data; name="${field}"`;
}

function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** A stream that reads the chunks as they are taken. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      await iterator.return?.(reason);
    },
  });
}

/** The chunks of a stream. Not all browsers iterate over streams. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
