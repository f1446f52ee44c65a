import { open } from 'node:fs/promises';

/** Fields of the file's outermost message; see ModelProto in onnx.proto. */
const METADATA_FIELD = 14;
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIELDS_MAX = 1000;
const METADATA_MAX_BYTES = 2 ** 20;
const HEAD_BYTES = 20;

/**
 * The metadata of an ONNX file by name, such as `model_type`. The graph, which is nearly all of the file, is not read.
 * Empty for other files; incomplete for a truncated file.
 * Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
export async function readOnnxMetadata(path: string): Promise<Map<string, string>> {
  const metadata = new Map<string, string>();
  await using file = await open(path);
  const { size } = await file.stat();
  let at = 0;
  for (let field = 0; field < FIELDS_MAX && at < size; field += 1) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, at);
    const head = readHead(buffer.subarray(0, bytesRead));
    if (head === null) break;
    const start = at + head.bytes;
    if (head.field === METADATA_FIELD && head.length <= METADATA_MAX_BYTES && start + head.length <= size) {
      const entry = await file.read(Buffer.alloc(head.length), 0, head.length, start);
      const [name, value] = readEntry(entry.buffer);
      metadata.set(name, value);
    }
    at = start + head.length;
  }
  return metadata;
}

type Head = { field: number; bytes: number; length: number };

/** The field's number, the bytes of its head and the bytes of its value; null when the bytes are not protobuf. */
function readHead(bytes: Buffer): Head | null {
  const tag = readVarint(bytes, 0);
  if (tag === null) return null;
  const value = readVarint(bytes, tag.next);
  if (value === null) return null;
  const field = Math.floor(tag.value / 8);
  if (tag.value % 8 === VARINT) return { field, bytes: value.next, length: 0 };
  if (tag.value % 8 === LENGTH_DELIMITED) return { field, bytes: value.next, length: value.value };
  return null;
}

/** An entry is a message of two strings: field 1 the name, field 2 the value. */
function readEntry(bytes: Buffer): [string, string] {
  const strings = ['', ''];
  let at = 0;
  while (at < bytes.length) {
    const head = readHead(bytes.subarray(at));
    if (head === null) break;
    const start = at + head.bytes;
    strings[head.field - 1] = bytes.toString('utf8', start, start + head.length);
    at = start + head.length;
  }
  return [strings[0]!, strings[1]!];
}

function readVarint(bytes: Buffer, from: number): { value: number; next: number } | null {
  let value = 0;
  for (let at = from; at < bytes.length && at < from + 10; at += 1) {
    value += (bytes[at]! % 128) * 2 ** (7 * (at - from));
    if (bytes[at]! < 128) return { value, next: at + 1 };
  }
  return null;
}
