import { randomUUID } from 'node:crypto';

/** A multipart/form-data body: text fields by name, then one file. */
export type MultipartForm = { contentType: string; body: Buffer };

/**
 * The form as one buffer, into which the file's bytes are copied. With FormData, aborting the request raises an error
 * that cannot be caught (undici: ReadableStream is already closed) and would end the process.
 */
export function multipartForm(
  fields: [name: string, value: string][],
  file: { name: string; filename: string; contentType: string; bytes: Uint8Array[] },
): MultipartForm {
  const boundary = `verbatim-${randomUUID()}`;
  const part = (disposition: string, ...more: string[]) =>
    Buffer.from([`--${boundary}`, `content-disposition: form-data; ${disposition}`, ...more].join('\r\n'));
  const end = Buffer.from('\r\n');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      ...fields.flatMap(([name, value]) => [part(`name="${name}"`, '', value), end]),
      part(`name="${file.name}"; filename="${file.filename}"`, `content-type: ${file.contentType}`, '', ''),
      ...file.bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}
